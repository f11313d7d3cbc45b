import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAgent, outlineOf, versions } from '../../judges/ag-ui.ts'
import { createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'
import { newName } from './judged-server.ts'

/* Threads of a server that is killed. */

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject()
  await project.copy(`${root}/test/judges/agents.config.ts`, 'agent.config.ts')
  server = await serve(project)
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

/** The clients leave the error of a connection that breaks to nobody: for them it ends. */
async function fetchUntilBroken(url: string, init: RequestInit): Promise<Response> {
  const { body, status, headers } = await fetch(url, init)
  const whole = new ReadableStream<Uint8Array>({
    async start(controller) {
      try {
        for await (const piece of body ?? []) controller.enqueue(piece)
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
      }
      controller.close()
    },
  })
  return new Response(whole, { status, headers })
}

async function restart(): Promise<void> {
  await server.kill()
  server = await serve(project)
}

describe.each(versions)('the client %s', (version) => {
  const open = (agent: string, threadId: string) =>
    openAgent(version, { url: `${server.url}/api/v1/ag-ui/${agent}`, threadId, fetch: fetchUntilBroken })

  test('answers after a kill what was asked before it, and again after another', async () => {
    const threadId = newName('thread')
    const asked = await open('clerk', threadId)
    await asked.say('Refund me', 'u1').runAgent({ runId: 'r1' })
    const [{ id = '' } = {}] = asked.pendingInterrupts
    await restart()
    const found = await open('clerk', threadId)
    await found.connectAgent()
    expect(found.messages).toEqual(asked.messages)
    expect(found.pendingInterrupts).toEqual(asked.pendingInterrupts)
    const resume = [{ interruptId: id, status: 'resolved' as const, payload: { approved: true } }]
    await found.runAgent({ runId: 'r2', resume })
    expect(outlineOf(found.messages).at(-1)).toMatch(/^assistant: Done: .*"paid":5/)
    const first = found.events
    await restart()
    const again = await open('clerk', threadId)
    again.setMessages(asked.messages)
    await again.runAgent({ runId: 'r2', resume })
    expect(again.events).toEqual(first)
    const late = await open('clerk', threadId)
    await late.connectAgent()
    expect(late.messages).toEqual(found.messages)
  })

  test('is told that an answer was lost, has what was said, and goes on', async () => {
    const threadId = newName('thread')
    const file = newName('file')
    const agent = await open('slow', threadId)
    const running = agent.say(file, 'u1').runAgent({ runId: 'r1' })
    await expect.poll(() => agent.messages.at(-1)?.content).toBe('One ')
    await server.kill()
    await running
    server = await serve(project)
    const again = await open('slow', threadId)
    await again.say(file, 'u1').runAgent({ runId: 'r1' })
    expect(again.end).toMatchObject({ type: 'RUN_ERROR', code: 'run_interrupted' })
    const found = await open('slow', threadId)
    await found.connectAgent()
    expect(found.messages).toEqual(again.messages)
    const next = newName('file')
    for (const word of [1, 2]) await project.write(`${next}-${word}`, '')
    await found.say(next).runAgent()
    expect(found.messages.at(-1)?.content).toBe('One two three.')
  })
})
