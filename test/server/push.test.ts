import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { memoryCluster } from '../support/memory-cluster.ts'
import { type Receiver, startReceiver } from '../support/push-receiver.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

/* Push notifications of several servers on one store. */

let cluster: ReturnType<typeof memoryCluster>
let receiver: Receiver
const servers: RunningTestServer[] = []
const goOn = Promise.withResolvers<void>()

const asks = agent({
  async *run({ resumed }) {
    if (resumed === undefined) yield { type: 'input_required', call_id: 'c1', prompt: 'May I?' }
    else yield 'done'
  },
})
const slow = agent({
  async *run({ signal }) {
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([goOn.promise, stopped])
    yield 'done'
  },
})

async function start(): Promise<RunningTestServer> {
  const push = { allowHttp: true, allowPrivate: true }
  const server = await startServer({ sessionStorage: cluster.add().store, a2a: { push } }, { asks, slow })
  servers.push(server)
  return server
}
beforeEach(async () => {
  cluster = memoryCluster()
  receiver = await startReceiver()
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  await receiver.close()
})

async function call(server: RunningTestServer, agentId: string, method: string, params: object) {
  const body = { jsonrpc: '2.0', id: 1, method, params }
  return (await server.call('POST', `/api/v1/a2a/agents/${agentId}`, body)).json.result
}
const say = (server: RunningTestServer, agentId: string, push?: object) =>
  call(server, agentId, 'SendMessage', {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    configuration: { returnImmediately: true, ...(push && { taskPushNotificationConfig: push }) },
  })
const states = () =>
  receiver.received.flatMap(({ json }) => {
    const { state } = (json.task ?? json.statusUpdate)?.status ?? {}
    return state === undefined ? [] : [state.replace('TASK_STATE_', '')]
  })

test('tells of a run on another server', async () => {
  const [a, b] = [await start(), await start()]
  const { task } = await say(a, 'slow')
  await call(b, 'slow', 'CreateTaskPushNotificationConfig', { taskId: task.id, url: receiver.url })
  await expect.poll(states).toEqual(['WORKING'])
  goOn.resolve()
  await expect.poll(states).toEqual(['WORKING', 'COMPLETED'])
})

test('tells of a run that another server goes on with, and of one that it cancels', async () => {
  const [a, b] = [await start(), await start()]
  const first = await say(a, 'asks', { url: receiver.url })
  await expect.poll(() => states().at(-1)).toBe('INPUT_REQUIRED')
  await b.call('POST', `/api/v1/runs/${first.task.id}/resume`, { approved: true })
  await expect.poll(() => states().at(-1)).toBe('COMPLETED')
  const second = await call(a, 'asks', 'SendMessage', {
    message: { messageId: 'other', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    configuration: { taskPushNotificationConfig: { url: receiver.url } },
  })
  await expect.poll(() => states().at(-1)).toBe('INPUT_REQUIRED')
  await b.call('POST', `/api/v1/runs/${second.task.id}/cancel`)
  await expect.poll(() => states().at(-1)).toBe('CANCELED')
})

test('tells what a server that stops could not', async () => {
  const [a, b] = [await start(), await start()]
  receiver.answer((_, response) => response.writeHead(503).end())
  const { task } = await say(a, 'asks', { url: receiver.url })
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0)
  await a.close()
  receiver.answer((_, response) => response.writeHead(204).end())
  await expect
    .poll(() => receiver.received.at(-1)?.json.task)
    .toMatchObject({
      id: task.id,
      status: { state: 'TASK_STATE_INPUT_REQUIRED' },
    })
  expect(b.server.underWay().run_ids).toEqual([])
})
