import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProject, type RunningServer, serve } from '../../support/program.ts'
import { startReceiver } from '../../support/push-receiver.ts'

const config = `
import { agent, defineConfig } from 'agentserve'

export default defineConfig({
  server: { a2a: { push: { allowHttp: true, allowPrivate: true } } },
  agents: {
    echo: agent({ async *run({ text }) { yield text } }),
    endless: agent({
      async *run({ signal }) {
        yield 'begun'
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
    }),
  },
})
`

async function send(server: RunningServer, agentId: string, url: string): Promise<{ id: string }> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { id: 'mine', url, token: 'known' } }
  const answer = await fetch(`${server.url}/api/v1/a2a/agents/${agentId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }),
  })
  return ((await answer.json()) as { result: { task: { id: string } } }).result.task
}

test('a server that is killed before its notification was taken sends it after its next start', {
  timeout: 60_000,
}, async () => {
  const project = await createProject({ 'agent.config.ts': config })
  const receiver = await startReceiver()
  const start = () => serve(project, 'start', ['--data', join(project.folder, 'data')])
  let server = await start()
  try {
    receiver.answer(() => {})
    const ended = await send(server, 'echo', `${receiver.url}/ended`)
    const running = await send(server, 'endless', `${receiver.url}/running`)
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(2)
    await server.kill()
    receiver.received.length = 0
    receiver.answer((_, response) => response.writeHead(204).end())
    server = await start()
    const told = () =>
      receiver.received
        .map(({ path, json, headers }) => [path, json.task?.status.state, headers['x-a2a-notification-token']])
        .sort()
    await expect.poll(told, { timeout: 20_000 }).toEqual([
      ['/hook/ended', 'TASK_STATE_COMPLETED', 'known'],
      ['/hook/running', 'TASK_STATE_FAILED', 'known'],
    ])
    const tasks = receiver.received.map(({ json }) => json.task)
    expect(tasks.map(({ id }) => id).sort()).toEqual([ended.id, running.id].sort())
    expect(tasks.find(({ id }) => id === ended.id).artifacts).toMatchObject([{ parts: [{ text: 'hello' }] }])
    // What was taken is not sent again.
    expect((await server.stop()).code).toBe(0)
    server = await start()
    await send(server, 'echo', `${receiver.url}/last`)
    await expect.poll(() => receiver.received.at(-1)?.path, { timeout: 20_000 }).toBe('/hook/last')
    const again = receiver.received.slice(2).filter(({ path }) => path !== '/hook/last')
    expect(again).toEqual([])
  } finally {
    await server.kill()
    await receiver.close()
    await project.remove()
  }
})
