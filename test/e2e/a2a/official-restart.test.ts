import type { Task } from '@a2a-js/sdk'
import { TaskState } from '@a2a-js/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collect } from '../../support/collect.ts'
import { folded, officialClient, officialWays, said } from '../../support/official-clients.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ async *run({ text }) { for (const word of text.split(/(?<=\\s)/)) yield word } }),
    asks: agent({
      async *run({ resumed }) {
        yield resumed === undefined ? 'One moment. ' : 'It is ' + resumed.approved
        if (resumed === undefined) yield { type: 'input_required', call_id: 'c1', prompt: 'May I?' }
      },
    }),
    waits: agent({
      async *run({ signal }) {
        yield 'begun'
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
    }),
  },
})
`

let project: Project
let server: RunningServer
beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server?.kill()
  await project?.remove()
})

const base = (id: string) => `${server.url}/api/v1/a2a/agents/${id}/`

/** The bytes of a stream, and its end. */
async function bytesOf(message: object, id = 'echo'): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: message })
  const answer = await fetch(base(id), { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return answer.text()
}

const text = (messageId: string, value: string, more: object = {}) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text: value }], ...more },
})

test('a killed server keeps its tasks: ended ones byte for byte, waiting ones go on, others fail', async () => {
  const ended = await bytesOf(text('ended', 'one two three'))
  const asked = await bytesOf(text('asked', 'x'), 'asks')
  const waiting: { id: string; way: (typeof officialWays)[number] }[] = []
  for (const way of officialWays) {
    const task = (await (await officialClient(way, base('asks'))).sendMessage(said('x'))) as Task
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    waiting.push({ id: task.id, way })
  }
  const stream = (await officialClient('JSON-RPC 1.0', base('waits'))).sendMessageStream(said('x'))
  const { value: first } = await stream.next()
  const { value: second } = await stream.next()
  const lost = folded([first, second].filter((event) => event !== undefined))
  expect(lost).toMatchObject({ state: TaskState.TASK_STATE_WORKING, text: 'begun' })

  await server.kill()
  await expect(collect(stream)).rejects.toThrow()
  server = await serve(project, 'start')

  expect(await bytesOf(text('ended', 'one two three'))).toBe(ended)
  expect(await bytesOf(text('asked', 'x'), 'asks')).toBe(asked)
  for (const way of officialWays) {
    const client = await officialClient(way, base('waits'))
    const task = folded([await client.getTask({ tenant: '', id: lost.id })])
    expect(task).toMatchObject({ state: TaskState.TASK_STATE_FAILED, contextId: lost.contextId })
    expect(task.message).toContain('interrupted')
    await expect(collect(client.resubscribeTask({ tenant: '', id: lost.id }))).rejects.toThrow(/has ended/)
  }
  for (const { id, way } of waiting) {
    const client = await officialClient(way, base('asks'))
    const again = await collect(client.resubscribeTask({ tenant: '', id }))
    expect(folded(again)).toMatchObject({ state: TaskState.TASK_STATE_INPUT_REQUIRED, text: 'One moment. ' })
    const answer = said('approve', { taskId: id })
    const rest = folded(await collect(client.sendMessageStream(answer)))
    expect(rest).toMatchObject({ state: TaskState.TASK_STATE_COMPLETED, text: 'One moment. It is true' })
    expect(folded([await client.getTask({ tenant: '', id })])).toEqual(rest)
  }
})
