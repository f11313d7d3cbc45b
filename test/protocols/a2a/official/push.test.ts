import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { officialClient, officialWays, said } from '../../../support/official-clients.ts'
import { type Receiver, startReceiver } from '../../../support/push-receiver.ts'
import { type RunningTestServer, startServer } from '../../../support/server.ts'

/** Nobody is there. */
const hook = 'http://127.0.0.1:9/hook'
let server: RunningTestServer
let receiver: Receiver
const goOn = new Map<string, () => void>()

const asks = agent({
  async *run({ resumed }) {
    if (resumed === undefined) yield { type: 'input_required', call_id: 'c1', prompt: 'May I?' }
    else yield 'done'
  },
})
const slow = agent({
  async *run({ text, signal }) {
    yield 'begun '
    await new Promise<void>((resolve) => {
      goOn.set(text, resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    yield 'ended'
  },
})
const keys = [
  { key: 'key-of-ann-key-of-ann', user: 'ann' },
  { key: 'key-of-bob-key-of-bob', user: 'bob' },
].map(({ key, user }) => ({ key, userId: user, scopes: ['run' as const, 'sessions' as const] }))

beforeAll(async () => {
  const push = { allowHttp: true, allowPrivate: true, configs: 2 }
  server = await startServer({ a2a: { push }, auth: { keys } }, { asks, slow })
})
afterAll(() => server.close())
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.close())

const ann = { authorization: 'Bearer key-of-ann-key-of-ann' }
const bob = { authorization: 'Bearer key-of-bob-key-of-bob' }
let count = 0
const post = (agentId: string, method: string, params: object, headers: Record<string, string> = ann) =>
  server.call('POST', `/api/v1/a2a/agents/${agentId}`, { jsonrpc: '2.0', id: 1, method, params }, headers)
const call = async (agentId: string, method: string, params: object, headers?: Record<string, string>) =>
  (await post(agentId, method, params, headers)).json
const message = (text: string) => ({ messageId: `p${++count}`, role: 'ROLE_USER', parts: [{ text }] })
const bodies = () => receiver.received.map(({ json }) => json)

async function begin(agentId: string, text = `t${count}`): Promise<{ id: string; text: string }> {
  const params = { message: message(text), configuration: { returnImmediately: true } }
  const { result } = await call(agentId, 'SendMessage', params)
  return { id: result.task.id, text }
}

describe('with the clients of the SDK', () => {
  test.each(officialWays)('%s keeps, lists, gives and deletes configs, and is told the end', async (way) => {
    const client = await officialClient(way, `${server.url}/api/v1/a2a/agents/slow/`, ann)
    const text = `sdk ${way}`
    const task = (await client.sendMessage(said(text, { returnImmediately: true }))) as { id: string }
    const taskId = task.id
    const authentication = { scheme: 'Bearer', credentials: 'for the hook' }
    const made = await client.createTaskPushNotificationConfig({
      tenant: '',
      taskId,
      id: 'mine',
      url: receiver.url,
      token: 'my token',
      authentication,
    })
    const shown = { taskId, id: 'mine', url: receiver.url, token: '', authentication: { scheme: 'Bearer' } }
    expect(made).toMatchObject(shown)
    expect(made.authentication?.credentials).toBe('')
    const { configs } = await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })
    expect(configs).toEqual([made])
    expect(await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })).toEqual(made)

    await expect.poll(() => receiver.received.length).toBe(1)
    goOn.get(text)?.()
    const last = way === 'JSON-RPC 0.3' ? 2 : 3
    await expect.poll(() => receiver.received.length).toBe(last)
    for (const { headers } of receiver.received) {
      expect(headers).toMatchObject({ authorization: 'Bearer for the hook', 'x-a2a-notification-token': 'my token' })
    }
    const remove = () => client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })
    await remove()
    await remove()
    const left = await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })
    expect(left.configs).toEqual([])
  })
})

it('tells a receiver of 1.0 the task, then the whole answer and the status, and no piece of it', async () => {
  const text = 'told in 1.0'
  const taskPushNotificationConfig = { id: 'x', url: receiver.url }
  const configuration = { returnImmediately: true, taskPushNotificationConfig }
  const { result } = await call('slow', 'SendMessage', { message: message(text), configuration })
  const { id: taskId, contextId } = result.task
  await expect
    .poll(bodies)
    .toMatchObject([{ task: { id: taskId, contextId, status: { state: 'TASK_STATE_WORKING' } } }])
  goOn.get(text)?.()
  await expect.poll(() => bodies().length).toBe(3)
  const [first, answer, status] = bodies()
  expect(first.task).not.toHaveProperty('artifacts')
  const artifact = { artifactId: 'response', parts: [{ text: 'begun ended' }] }
  expect(answer).toEqual({ artifactUpdate: { taskId, contextId, artifact, append: false, lastChunk: true } })
  const timestamp = expect.any(String)
  expect(status).toEqual({ statusUpdate: { taskId, contextId, status: { state: 'TASK_STATE_COMPLETED', timestamp } } })
  expect(receiver.received.map(({ headers }) => headers['content-type'])).toEqual(Array(3).fill('application/a2a+json'))
})

it('tells a receiver of 0.3 the bare task each time, also of a question and its answer', async () => {
  const pushNotificationConfig = { url: receiver.url, authentication: { schemes: ['Basic'], credentials: 'YTpi' } }
  const first = { kind: 'message', messageId: 'q1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
  const { result } = await call('asks', 'message/send', { message: first, configuration: { pushNotificationConfig } })
  expect(result.status.state).toBe('input-required')
  await expect.poll(() => bodies().at(-1)?.status.state).toBe('input-required')
  expect(bodies().at(-1)).toMatchObject({ kind: 'task', id: result.id, status: { message: { kind: 'message' } } })
  const answer = { ...first, messageId: 'q2', taskId: result.id, parts: [{ kind: 'text', text: 'approve' }] }
  await call('asks', 'message/send', { message: answer })
  await expect.poll(() => bodies().at(-1)?.status.state).toBe('completed')
  const artifacts = [{ artifactId: 'response', parts: [{ kind: 'text', text: 'done' }] }]
  expect(bodies().at(-1)).toMatchObject({ kind: 'task', artifacts })
  expect(receiver.received.at(-1)?.headers).toMatchObject({
    'content-type': 'application/json',
    authorization: 'Basic YTpi',
  })
})

it('gives a client of 0.3 the only config without its id, and null for a deletion', async () => {
  const { id } = await begin('asks')
  const pushNotificationConfig = { url: hook, authentication: { schemes: ['Bearer'], credentials: 'secret' } }
  const set = { taskId: id, pushNotificationConfig }
  const shown = { taskId: id, pushNotificationConfig: { id, url: hook, authentication: { schemes: ['Bearer'] } } }
  expect((await call('asks', 'tasks/pushNotificationConfig/set', set)).result).toEqual(shown)
  expect((await call('asks', 'tasks/pushNotificationConfig/get', { id })).result).toEqual(shown)
  expect((await call('asks', 'tasks/pushNotificationConfig/list', { id })).result).toEqual([shown])
  const remove = { id, pushNotificationConfigId: id }
  expect(await call('asks', 'tasks/pushNotificationConfig/delete', remove)).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: null,
  })
  expect((await call('asks', 'tasks/pushNotificationConfig/get', { id })).error.code).toBe(-32001)
})

it('knows no task of another user, and none of another agent', async () => {
  const { id } = await begin('asks')
  const config = { taskId: id, id: 'a', url: hook }
  const names = { taskId: id, id: 'a' }
  expect((await call('asks', 'CreateTaskPushNotificationConfig', config)).result.id).toBe('a')
  const methods = [
    ['CreateTaskPushNotificationConfig', config],
    ['GetTaskPushNotificationConfig', names],
    ['ListTaskPushNotificationConfigs', names],
    ['DeleteTaskPushNotificationConfig', names],
  ] as const
  for (const [method, params] of methods) {
    const other = await call('asks', method, params, bob)
    expect(other.error).toMatchObject({ code: -32001, data: [{ reason: 'TASK_NOT_FOUND' }] })
    const missing = await call('asks', method, { ...params, taskId: 'run_none' }, bob)
    expect(other.error.message.replace(id, '')).toBe(missing.error.message.replace('run_none', ''))
    expect((await call('slow', method, params)).error.code).toBe(-32001)
  }
  expect((await call('asks', 'GetTaskPushNotificationConfig', names)).result).toEqual({ ...names, url: hook })
})

it.each<[string, object]>([
  ['url', {}],
  ['url', { url: 17 }],
  ['url', { url: 'https://user:word@example.org/' }],
  ['url', { url: 'gopher://example.org/' }],
  ['url', { url: `https://example.org/${'x'.repeat(3_000)}` }],
  ['id', { url: hook, id: 'a/../b' }],
  ['token', { url: hook, token: 'a\nb' }],
  ['authentication', { url: hook, authentication: 'Bearer' }],
  ['authentication.scheme', { url: hook, authentication: { scheme: 'a b', credentials: 'c' } }],
  ['authentication.scheme', { url: hook, authentication: { credentials: 'c' } }],
])('refuses push config %# with the name of its field, %s, and begins no task for it', async (field, config) => {
  const { id: taskId } = await begin('asks')
  const { error } = await call('asks', 'CreateTaskPushNotificationConfig', { taskId, ...config })
  expect(error).toMatchObject({ code: -32602, data: [{ fieldViolations: [{ field }] }] })
  const listed = async () => (await call('asks', 'ListTasks', {})).result.totalSize
  const before = await listed()
  const configuration = { taskPushNotificationConfig: config }
  const refused = await call('asks', 'SendMessage', { message: message('x'), configuration })
  expect(refused.error.code).toBe(-32602)
  expect(await listed()).toBe(before)
})

it('refuses more configs than the server allows, over HTTP+JSON with status 400', async () => {
  const { id } = await begin('asks')
  const path = `/api/v1/a2a/agents/asks/tasks/${id}/pushNotificationConfigs`
  for (const name of ['a', 'b'])
    expect((await server.call('POST', path, { id: name, url: hook }, ann)).status).toBe(200)
  const full = await server.call('POST', path, { id: 'c', url: hook }, ann)
  expect([full.status, JSON.parse(full.text).error.message]).toEqual([
    400,
    expect.stringContaining('has 2 push configs'),
  ])
  const listed = await server.call('GET', path, undefined, ann)
  expect(JSON.parse(listed.text)).toEqual({
    configs: ['a', 'b'].map((name) => ({ taskId: id, id: name, url: hook })),
    nextPageToken: '',
  })
  const removed = await server.call('DELETE', `${path}/a`, undefined, ann)
  expect([removed.status, JSON.parse(removed.text)]).toEqual([200, {}])
  expect((await server.call('GET', `${path}/a`, undefined, ann)).status).toBe(404)
  expect((await server.call('GET', path, undefined, bob)).status).toBe(404)
})

it('tells the end of tasks that the end of the server brings, and closes in time', async () => {
  const closing = await startServer({ a2a: { push: { allowHttp: true, allowPrivate: true } } }, { slow })
  const params = {
    message: message('until the end'),
    configuration: { returnImmediately: true, taskPushNotificationConfig: { url: receiver.url } },
  }
  await closing.call('POST', '/api/v1/a2a/agents/slow', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params })
  await expect.poll(() => receiver.received.length).toBe(1)
  await closing.server.close({ deadline: 0 })
  await closing.close()
  expect(bodies().at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } })
})

it('has no config and no credentials in the export of a session', async () => {
  const { id } = await begin('asks')
  const authentication = { scheme: 'Bearer', credentials: 'never-to-be-seen' }
  await call('asks', 'CreateTaskPushNotificationConfig', { taskId: id, url: hook, token: 'nor-this', authentication })
  const run = await server.server.services.runs.get(id)
  const pieces: unknown[] = []
  for await (const piece of await server.server.services.sessions.export(run.session_id, true)) pieces.push(piece)
  const told = JSON.stringify([run, pieces])
  for (const secret of ['never-to-be-seen', 'nor-this', '127.0.0.1:9']) expect(told).not.toContain(secret)
})

describe('with server.a2a.push alone', () => {
  let guarded: RunningTestServer
  beforeAll(async () => {
    guarded = await startServer({ a2a: { push: { hosts: ['hooks.example.org', '[::1]', '10.0.0.1'] } } }, { asks })
  })
  afterAll(() => guarded.close())

  it.each(['http://hooks.example.org/', 'https://10.0.0.1/', 'https://[::1]/', 'https://8.8.8.8/'])(
    'refuses the address %s and says why, of a task and with a message',
    async (url) => {
      const run = await guarded.call('POST', '/api/v1/agents/asks/run', { input: 'x' })
      const config = { taskId: run.json.run_id, url }
      const configuration = { taskPushNotificationConfig: { url } }
      for (const [method, params] of [
        ['CreateTaskPushNotificationConfig', config],
        ['SendMessage', { message: message('x'), configuration }],
      ] as const) {
        const body = { jsonrpc: '2.0', id: 1, method, params }
        const { json } = await guarded.call('POST', '/api/v1/a2a/agents/asks', body)
        expect(json.error).toMatchObject({ code: -32602, data: [{ fieldViolations: [{ field: 'url' }] }] })
        expect(json.error.message).toMatch(/not encrypted|not an address on the public internet|does not notify/)
      }
    },
  )
})

describe('without server.a2a.push', () => {
  let plain: RunningTestServer
  beforeAll(async () => {
    plain = await startServer({}, { asks })
  })
  afterAll(() => plain.close())

  it('says that it sends none, in the card and to each method', async () => {
    const card = await plain.call('GET', '/api/v1/a2a/agents/asks')
    expect(card.json.capabilities.pushNotifications).toBe(false)
    expect(
      (await server.call('GET', '/api/v1/a2a/agents/asks', undefined, ann)).json.capabilities.pushNotifications,
    ).toBe(true)
    const methods = ['Create', 'Get', 'Delete'].map((verb) => `${verb}TaskPushNotificationConfig`)
    const all = [...methods, 'ListTaskPushNotificationConfigs', 'tasks/pushNotificationConfig/set']
    for (const method of all) {
      const body = { jsonrpc: '2.0', id: 1, method, params: { taskId: 'x', id: 'y', url: hook } }
      const { json } = await plain.call('POST', '/api/v1/a2a/agents/asks', body)
      expect(json.error).toMatchObject({ code: -32003, data: [{ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' }] })
    }
    const { status } = await plain.call('GET', '/api/v1/a2a/agents/asks/tasks/x/pushNotificationConfigs')
    expect(status).toBe(400)
  })
})
