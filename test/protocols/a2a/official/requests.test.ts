import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { type RunningTestServer, startServer } from '../../../support/server.ts'

/* What an endpoint does with requests that no client of the SDK sends. */

let server: RunningTestServer
const keys = { ann: 'key-of-ann', bob: 'key-of-bob', runner: 'key-of-runner' }

beforeAll(async () => {
  const quiet = agent({
    async *run({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      yield 'never'
    },
  })
  const files = agent({
    async *run({ parts }) {
      yield { type: 'file', media_type: 'text/plain', name: 'made.txt', data: Buffer.from('made').toString('base64') }
      yield { type: 'data', data: parts.map(({ type }) => type) }
    },
  })
  const modes = agent({
    async *run({ metadata }) {
      yield { type: 'data', data: { ...metadata } }
    },
  })
  server = await startServer(
    {
      auth: {
        keys: [
          { key: keys.ann, userId: 'ann' },
          { key: keys.bob, userId: 'bob' },
          { key: keys.runner, scopes: ['run'] },
        ],
      },
      requestTimeout: 400,
      a2a: { defaultAgent: 'echo' },
      limits: { fileSize: '1KB' },
    },
    { quiet, files, modes },
  )
})
afterAll(() => server.close())

const path = '/api/v1/a2a/agents/echo'

function ask(body: unknown, { as = 'ann' as keyof typeof keys, at = path, headers = {} } = {}) {
  const all = { 'content-type': 'application/json', authorization: `Bearer ${keys[as]}`, ...headers }
  return server.call('POST', at, body, all)
}

const rpc = (method: unknown, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
let count = 0
const message = (more: object = {}) => ({
  message: { messageId: `request-${++count}`, role: 'ROLE_USER', parts: [{ text: 'hello' }], ...more },
})

test.each<[string, unknown, number]>([
  ['no JSON', '{"jsonrpc":', -32700],
  ['nothing', '', -32700],
  ['a batch', [rpc('GetTask', { id: 'x' })], -32600],
  ['a text', '"GetTask"', -32600],
  ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'GetTask' }, -32600],
  ['no method', { jsonrpc: '2.0', id: 1 }, -32600],
  ['an id that is an object', rpc('GetTask', {}, { a: 1 }), -32600],
  ['an id that would make each frame large', rpc('SendStreamingMessage', message(), 'x'.repeat(1_025)), -32600],
  ['an unknown method', rpc('Explode', {}), -32601],
  ['a name of an object', rpc('constructor', {}), -32601],
  ['a method of the simple dialect', rpc('sendMessage', message()), -32601],
  ['params that are a list', rpc('GetTask', ['x']), -32602],
  ['no id of a task', rpc('GetTask', {}), -32602],
  ['an id with NUL', rpc('GetTask', { id: 'a\0b' }), -32602],
  ['a history of negative length', rpc('GetTask', { id: 'x', historyLength: -1 }), -32602],
  ['an unknown task', rpc('GetTask', { id: 'x' }), -32001],
  ['push notifications', rpc('CreateTaskPushNotificationConfig', { taskId: 'x' }), -32003],
  ['old push notifications', rpc('tasks/pushNotificationConfig/set', {}), -32003],
  ['an extended card', rpc('GetExtendedAgentCard', {}), -32004],
  ['a message without an id', rpc('SendMessage', message({ messageId: undefined })), -32602],
  ['a message of an agent', rpc('SendMessage', message({ role: 'ROLE_AGENT' })), -32602],
  ['no parts', rpc('SendMessage', message({ parts: [] })), -32602],
  ['a part of nothing', rpc('SendMessage', message({ parts: [{}] })), -32602],
  ['a part of two kinds', rpc('SendMessage', message({ parts: [{ text: 'a', url: 'http://b' }] })), -32602],
  ['a part that is a text', rpc('SendMessage', message({ parts: ['hello'] })), -32602],
  ['a file that is no base64', rpc('SendMessage', message({ parts: [{ raw: '*', mediaType: 'a/b' }] })), -32602],
  ['a file of this machine', rpc('SendMessage', message({ parts: [{ url: 'file:///etc/passwd' }] })), -32602],
  ['a context that is no session id', rpc('SendMessage', message({ contextId: 'a b' })), -32602],
  ['a task that is not there', rpc('message/send', message({ taskId: 'x' })), -32001],
  [
    'output modes that are no list',
    rpc('SendMessage', { ...message(), configuration: { acceptedOutputModes: 'text/plain' } }),
    -32602,
  ],
  [
    'an output mode that is none',
    rpc('SendMessage', { ...message(), configuration: { acceptedOutputModes: [{}] } }),
    -32602,
  ],
  [
    'a configuration with push',
    rpc('SendMessage', { ...message(), configuration: { taskPushNotificationConfig: {} } }),
    -32003,
  ],
])('%s is refused by its code, in both kinds of answer', async (_what, body, code) => {
  const answer = await ask(body)
  expect([answer.status, answer.json?.error?.code]).toEqual([200, code])
  expect(answer.json.id).toBe(code === -32700 || code === -32600 ? answer.json.id : 1)
  if (code > -32100) expect(answer.json.error.data[0]).toMatchObject({ domain: 'a2a-protocol.org', metadata: {} })
})

test('a task is another user’s alone, by every method of every version', async () => {
  const { id, contextId } = (await ask(rpc('SendMessage', message()))).json.result.task
  const methods = ['GetTask', 'CancelTask', 'SubscribeToTask', 'tasks/get', 'tasks/cancel']
  for (const method of methods) {
    const foreign = (await ask(rpc(method, { id }), { as: 'bob' })).json
    const missing = (await ask(rpc(method, { id: 'run_none' }), { as: 'bob' })).json
    expect(JSON.stringify(foreign)).toBe(JSON.stringify(missing).replaceAll('run_none', id))
    expect(foreign.error.code).toBe(-32001)
  }
  const old = await ask(rpc('tasks/resubscribe', { id }), { as: 'bob' })
  expect([old.headers.get('content-type'), old.text]).toEqual(['text/event-stream', expect.stringContaining('-32001')])
  expect((await ask(rpc('SendMessage', message({ taskId: id })), { as: 'bob' })).json.error.code).toBe(-32001)
  expect((await ask(rpc('SendMessage', message({ contextId })), { as: 'bob' })).json.error.code).toBe(-32602)
  expect((await ask(rpc('ListTasks', { contextId }), { as: 'bob' })).json.result).toMatchObject({ tasks: [] })
  expect((await ask(rpc('ListTasks', { contextId }))).json.result.tasks).toMatchObject([{ id }])
  expect((await ask(rpc('ListTasks', {}), { as: 'runner' })).status).toBe(403)
})

test('without a key it is 401 with WWW-Authenticate, in the shape of the way', async () => {
  const bare = { authorization: '' }
  const overRpc = await ask(rpc('GetTask', { id: 'x' }), { headers: bare })
  expect([overRpc.status, overRpc.headers.get('www-authenticate'), overRpc.json.jsonrpc]).toEqual([
    401,
    'Bearer',
    '2.0',
  ])
  const overRest = await ask(message(), { at: `${path}/message:send`, headers: bare })
  expect(overRest.json.error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' })
  for (const at of [path, '/.well-known/agent-card.json', '/api/v1/a2a/agents']) {
    expect((await server.call('GET', at)).status).toBe(401)
  }
})

test('versions are told by header, query or method, patches count for nothing, others are refused', async () => {
  const get = (method: string, headers: Record<string, string>, query = '') =>
    ask(rpc(method, { id: 'x' }), { headers, at: path + query })
  for (const version of ['1.0', '1.0.3', ' 1.0 ']) {
    expect((await get('GetTask', { 'a2a-version': version })).json.error.code).toBe(-32001)
    expect((await get('tasks/get', { 'a2a-version': version })).json.error.code).toBe(-32601)
  }
  expect((await get('tasks/get', {}, '?A2A-Version=0.3')).json.error.code).toBe(-32001)
  for (const version of ['2.0', '0.2', '1', '1.0.x', 'constructor'])
    expect((await get('GetTask', { 'a2a-version': version })).json.error.code).toBe(-32009)
  const rest = await ask(message(), { at: `${path}/message:send`, headers: { 'a2a-version': '0.3' } })
  expect([rest.status, rest.json.error.details[0].reason]).toEqual([400, 'VERSION_NOT_SUPPORTED'])
})

test('snake_case is read, unknown fields are not echoed, and HTTP+JSON answers as its own type', async () => {
  const { message_id, ...snake } = { message_id: 'snake', role: 1, parts: [{ text: 'hi', colour: 'red' }], x: 1 }
  const body = { message: { message_id, ...snake }, configuration: { history_length: 0 }, unknown: true }
  const answer = await ask(body, { at: `${path}/message:send`, headers: { 'content-type': 'application/a2a+json' } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/a2a+json'])
  expect(answer.json.task).not.toHaveProperty('history')
  const { id } = answer.json.task
  const again = await server.call('GET', `${path}/tasks/${id}?historyLength=1`, undefined, {
    authorization: `Bearer ${keys.ann}`,
  })
  expect(again.json.history[0].parts).toEqual([{ text: 'hi' }])
  expect(again.text).not.toMatch(/colour|unknown/)
})

test('the agent is told which output the client takes, in each version', async () => {
  const at = '/api/v1/a2a/agents/modes'
  const told = async (method: string, configuration: object, role = 'ROLE_USER') => {
    const { result } = (await ask(rpc(method, { ...message({ role }), configuration }), { at })).json
    return (result.task ?? result).artifacts[0].parts[0].data
  }
  const acceptedOutputModes = ['text/plain', 'image/png']
  const wanted = { accepted_output_modes: acceptedOutputModes }
  expect(await told('SendMessage', { acceptedOutputModes })).toEqual(wanted)
  expect(await told('SendMessage', wanted)).toEqual(wanted)
  expect(await told('message/send', { acceptedOutputModes }, 'user')).toEqual(wanted)
  expect(await told('SendMessage', { acceptedOutputModes: [] })).toEqual({})
})

test('past the time limit a request gets the task as it is, and the task goes on', async () => {
  const at = '/api/v1/a2a/agents/quiet'
  const { task } = (await ask(rpc('SendMessage', message()), { at })).json.result
  expect(task.status.state).toBe('TASK_STATE_WORKING')
  expect((await ask(rpc('GetTask', { id: task.id }), { at })).json.result.status.state).toBe('TASK_STATE_WORKING')
  const old = { ...message({ role: 'user', parts: [{ kind: 'text', text: 'x' }] }), configuration: { blocking: false } }
  const queued = (await ask(rpc('message/send', old), { at })).json.result
  expect(queued).toMatchObject({ kind: 'task', status: { state: 'working' } })
  for (const { id } of [task, queued]) {
    expect((await ask(rpc('CancelTask', { id }), { at })).json.result.status.state).toBe('TASK_STATE_CANCELED')
  }
})

test('a task that waits for its turn is shown at once, and its stream says when it begins', async () => {
  const at = '/api/v1/a2a/agents/quiet'
  const contextId = 'in-turn'
  const now = { configuration: { returnImmediately: true } }
  const first = (await ask(rpc('SendMessage', { ...message({ contextId }), ...now }), { at })).json.result.task
  const leaving = new AbortController()
  const stream = await fetch(server.url + at, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.ann}` },
    body: JSON.stringify(rpc('SendStreamingMessage', message({ contextId }))),
    signal: leaving.signal,
  })
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  const opening = JSON.parse((await reader?.read())?.value?.slice(6) ?? '').result.task
  expect(opening).toMatchObject({ contextId, status: { state: 'TASK_STATE_SUBMITTED' } })
  await ask(rpc('CancelTask', { id: first.id }), { at })
  const begun = JSON.parse((await reader?.read())?.value?.slice(6) ?? '').result.statusUpdate
  expect(begun).toMatchObject({ taskId: opening.id, status: { state: 'TASK_STATE_WORKING' } })
  leaving.abort()
  await ask(rpc('CancelTask', { id: opening.id }), { at })
})

test('a file above the limit is refused with the status that HTTP has for it', async () => {
  const answer = await ask(rpc('SendMessage', message({ parts: [{ raw: 'A'.repeat(4000) }] })))
  expect([answer.status, answer.json.error.code]).toEqual([413, -32600])
})

test('files come and go with their content, in the form of each version', async () => {
  const at = '/api/v1/a2a/agents/files'
  const raw = Buffer.from('given').toString('base64')
  const made = Buffer.from('made').toString('base64')
  const sent = message({ parts: [{ raw, mediaType: 'text/plain', filename: 'given.txt' }] })
  const { task } = (await ask(rpc('SendMessage', sent), { at })).json.result
  expect(task.artifacts[0].parts).toEqual([
    { raw: made, mediaType: 'text/plain', filename: 'made.txt' },
    { data: ['file'] },
  ])
  const [given] = task.history[0].parts
  expect(given).toMatchObject({ filename: 'given.txt', mediaType: 'text/plain', url: expect.stringMatching(/^http/) })
  const kept = await fetch(given.url, { headers: { authorization: `Bearer ${keys.ann}` } })
  expect(await kept.text()).toBe('given')
  const file = { kind: 'file', file: { bytes: raw, mimeType: 'text/plain', name: 'given.txt' } }
  const old = await ask(rpc('message/stream', message({ role: 'user', parts: [file] })), { at })
  expect(old.text).toContain(`{"kind":"file","file":{"bytes":"${made}","name":"made.txt","mimeType":"text/plain"}}`)
  expect(old.text).toContain('{"kind":"data","data":{"value":["file"]},"metadata":{"data_part_compat":true}}')
})

test('lists are pages of tasks, newest first, each once', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n++) {
    ids.unshift((await ask(rpc('SendMessage', message({ contextId: 'listed' })))).json.result.task.id)
  }
  const list = async (params: object) => (await ask(rpc('ListTasks', { contextId: 'listed', ...params }))).json
  const seen: string[] = []
  for (let pageToken = ''; ; ) {
    const { result } = await list({ pageSize: 2, pageToken })
    expect(result.totalSize).toBe(5)
    seen.push(...result.tasks.map(({ id }: { id: string }) => id))
    pageToken = result.nextPageToken
    if (pageToken === '') break
  }
  expect(seen).toEqual(ids)
  const { tasks } = (await list({ status: 'TASK_STATE_COMPLETED', includeArtifacts: true, historyLength: 1 })).result
  expect(tasks[0]).toMatchObject({ artifacts: [{ parts: [{ text: 'hello' }] }], history: [{ role: 'ROLE_USER' }] })
  expect((await list({ status: 'TASK_STATE_WORKING' })).result).toMatchObject({
    tasks: [],
    nextPageToken: '',
    totalSize: 0,
  })
  expect((await list({ statusTimestampAfter: '2999-01-01T00:00:00Z' })).result.tasks).toEqual([])
  for (const wrong of [
    { pageSize: 0 },
    { pageSize: 101 },
    { pageToken: '%' },
    { status: 'DONE' },
    { statusTimestampAfter: 'x' },
  ])
    expect((await list(wrong)).error.code).toBe(-32602)
})

test('one who leaves a stream changes nothing for another, whose connection is kept alive', async () => {
  const at = '/api/v1/a2a/agents/quiet'
  const { id } = (await ask(rpc('SendMessage', { ...message(), configuration: { returnImmediately: true } }), { at }))
    .json.result.task
  const open = async () => {
    const leaving = new AbortController()
    const answer = await fetch(`${server.url}${at}/tasks/${id}:subscribe`, {
      headers: { authorization: `Bearer ${keys.ann}` },
      signal: leaving.signal,
    })
    return { leaving, answer }
  }
  const [one, other] = await Promise.all([open(), open()])
  expect(one.answer.headers.get('x-accel-buffering')).toBe('no')
  one.leaving.abort()
  await ask({}, { at: `${at}/tasks/${id}:cancel` })
  const text = await other.answer.text()
  expect(text).toContain('"TASK_STATE_WORKING"')
  expect(text.trim().split('\n\n').at(-1)).toContain('"TASK_STATE_CANCELED"')
})
