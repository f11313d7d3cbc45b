import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { ask } from '../../../support/cluster/requests.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { type Receiver, startReceiver } from '../../../support/push-receiver.ts'

const config = `
import { agent, defineConfig } from 'agentserve'

const { LISTEN_URL } = process.env
export default defineConfig({
  server: {
    storage: { type: 'postgres', schema: 'agents', listenUrl: LISTEN_URL, cluster: { deadAfter: '5s' } },
    a2a: { push: { allowHttp: true, allowPrivate: true } },
  },
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

describePostgres('push notifications of two instances', () => {
  let receiver: Receiver
  let [a, b] = [] as unknown as [Instance, Instance]
  beforeAll(async () => {
    receiver = await startReceiver()
  })
  afterAll(() => receiver?.close())
  ownInstances({ names: ['a', 'b'], config }, (all) => {
    ;[a, b] = all
  })

  async function call(instance: Instance, agentId: string, method: string, params: object) {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    return (await ask(instance.url, `/a2a/agents/${agentId}`, { body })).body.result
  }
  const send = async (instance: Instance, agentId: string, url?: string): Promise<string> => {
    const message = { messageId: `m${url}`, role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    const configuration = { returnImmediately: true, ...(url && { taskPushNotificationConfig: { url } }) }
    return (await call(instance, agentId, 'SendMessage', { message, configuration })).task.id
  }
  const states = (path: string) =>
    receiver.received
      .filter((one) => one.path === `/hook/${path}`)
      .flatMap(({ json }) => (json.task ?? json.statusUpdate)?.status.state ?? [])

  test('are sent for a task of the other instance', { timeout: 60_000 }, async () => {
    const taskId = await send(a, 'endless')
    const url = `${receiver.url}/other`
    const made = await call(b, 'endless', 'CreateTaskPushNotificationConfig', { taskId, url })
    expect(made).toEqual({ taskId, id: taskId, url })
    expect((await call(a, 'endless', 'ListTaskPushNotificationConfigs', { taskId })).configs).toEqual([made])
    await expect.poll(() => states('other'), { timeout: 20_000 }).toEqual(['TASK_STATE_WORKING'])
    await call(a, 'endless', 'CancelTask', { id: taskId })
    await expect.poll(() => states('other'), { timeout: 20_000 }).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_CANCELED'])
  })

  test('of an instance that is killed are sent by the other', { timeout: 90_000 }, async () => {
    receiver.answer(() => {})
    await send(a, 'echo', `${receiver.url}/ended`)
    await send(a, 'endless', `${receiver.url}/running`)
    const count = () => states('ended').length + states('running').length
    await expect.poll(count, { timeout: 20_000 }).toBe(2)
    await a.kill()
    receiver.received.length = 0
    receiver.answer((_, response) => response.writeHead(204).end())
    await expect.poll(() => states('ended').at(-1), { timeout: 40_000 }).toBe('TASK_STATE_COMPLETED')
    await expect.poll(() => states('running').at(-1), { timeout: 40_000 }).toBe('TASK_STATE_FAILED')
  })
})
