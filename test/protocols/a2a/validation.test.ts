import { expect, test } from 'vitest'
import { openA2A, rpc } from '../../support/a2a.ts'
import { echo } from '../../support/services.ts'

interface Failure {
  jsonrpc: string
  id: unknown
  error: { code: number; message: string }
  result?: unknown
}

const methods = ['sendMessage', 'streamMessage'] as const

// Each row breaks one more rule than the row after it, from the last check to the first: so each row shows its own check
// and that it comes before all those above.
const broken: [(request: ReturnType<typeof rpc>) => void, number, string][] = [
  [
    (request) => Object.assign(request.params, { onDisconnect: 'maybe' }),
    -32602,
    'onDisconnect must be cancel or continue',
  ],
  [
    (request) => setMessage(request, { contextId: 'no spaces' }),
    -32602,
    'contextId must be 1 to 128 of A-Z a-z 0-9 . _ : -',
  ],
  [
    (request) => setMessage(request, { parts: [{ type: 'text' }, { type: 'data', data: '{' }] }),
    -32602,
    'invalid part at index 1: data must be a JSON string',
  ],
  [
    (request) => setMessage(request, { parts: [{ type: 'file' }, { type: 'data', data: '{' }] }),
    -32602,
    'invalid part at index 0: type must be text or data',
  ],
  [(request) => setMessage(request, { parts: [] }), -32602, 'message must have at least one part'],
  [(request) => setMessage(request, { agentId: '' }), -32602, 'agentId is required'],
  [(request) => setMessage(request, { role: '' }), -32602, 'role is required'],
  [(request) => setMessage(request, { messageId: '' }), -32602, 'messageId is required'],
  [(request) => Object.assign(request, { id: '' }), -32600, 'request id is required'],
  [
    (request) => Object.assign(request, { method: 'message/send' }),
    -32601,
    'invalid method, must be sendMessage or streamMessage',
  ],
  [(request) => Object.assign(request, { jsonrpc: '1.0' }), -32600, 'invalid jsonrpc version, must be 2.0'],
]

function setMessage(request: ReturnType<typeof rpc>, fields: Record<string, unknown>): void {
  Object.assign(request.params.message, fields)
}

for (const method of methods) {
  test(`${method} checks in the specification's order and stops at the first failure`, async () => {
    const { post } = await openA2A({ echo })
    const request = rpc(method, 'echo', 'hi')
    for (const [breakIt, code, message] of broken) {
      breakIt(request)
      const response = await post(method, request)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ jsonrpc: '2.0', id: request.id, error: { code, message } })
    }
  })

  test(`${method} says that the other method belongs to another path`, async () => {
    const { post } = await openA2A({ echo })
    const other = method === 'sendMessage' ? 'streamMessage' : 'sendMessage'
    const { error } = (await (await post(method, rpc(other, 'echo', 'hi'))).json()) as Failure
    expect(error).toEqual({ code: -32601, message: `invalid method, must be ${method} on this path` })
  })
}

test.each([
  ['jsonrpc missing', { jsonrpc: undefined }, -32600, 'invalid jsonrpc version, must be 2.0'],
  ['jsonrpc a number', { jsonrpc: 2 }, -32600, 'invalid jsonrpc version, must be 2.0'],
  ['method missing', { method: undefined }, -32601, 'invalid method, must be sendMessage or streamMessage'],
  ['method no string', { method: ['sendMessage'] }, -32601, 'invalid method, must be sendMessage or streamMessage'],
  ['id missing', { id: undefined }, -32600, 'request id is required'],
  ['id null', { id: null }, -32600, 'request id is required'],
  ['params missing', { params: undefined }, -32602, 'invalid message format: messageId is required'],
  ['params a list', { params: [] }, -32602, 'invalid message format: messageId is required'],
  ['params null', { params: null }, -32602, 'invalid message format: messageId is required'],
  ['message missing', { params: {} }, -32602, 'invalid message format: messageId is required'],
  ['message a list', { params: { message: [] } }, -32602, 'invalid message format: messageId is required'],
  ['message a string', { params: { message: 'hi' } }, -32602, 'invalid message format: messageId is required'],
  ['message empty', { params: { message: {} } }, -32602, 'messageId is required'],
])('takes a field that is missing or of the wrong type as empty: %s', async (_name, change, code, message) => {
  const { post } = await openA2A({ echo })
  const answer = (await (
    await post('sendMessage', { ...rpc('sendMessage', 'echo', 'hi'), ...change })
  ).json()) as Failure
  expect(answer.error).toEqual({ code, message })
})

test.each([
  ['messageId', 7, 'messageId is required'],
  ['role', {}, 'role is required'],
  ['agentId', null, 'agentId is required'],
  ['parts', {}, 'message must have at least one part'],
  ['parts', 'hi', 'message must have at least one part'],
  ['parts', [null], 'invalid part at index 0: type must be text or data'],
  ['parts', [[]], 'invalid part at index 0: type must be text or data'],
  ['parts', [{ content: 'hi' }], 'invalid part at index 0: type must be text or data'],
  ['parts', [{ type: 'text', content: 'a' }, 'b'], 'invalid part at index 1: type must be text or data'],
  ['parts', [{ type: 'data' }], 'invalid part at index 0: data must be a JSON string'],
  ['parts', [{ type: 'data', data: '' }], 'invalid part at index 0: data must be a JSON string'],
  ['parts', [{ type: 'data', data: { a: 1 } }], 'invalid part at index 0: data must be a JSON string'],
  ['contextId', 5, 'contextId must be 1 to 128 of A-Z a-z 0-9 . _ : -'],
  ['contextId', 'x'.repeat(129), 'contextId must be 1 to 128 of A-Z a-z 0-9 . _ : -'],
  ['agentId', 'nobody', 'agent not found: nobody'],
])('answers -32602 about %s %j', async (field, value, message) => {
  const { post, sessions } = await openA2A({ echo })
  const request = rpc('sendMessage', 'echo', 'hi', { [field]: value })
  const answer = (await (await post('sendMessage', request)).json()) as Failure
  expect(answer).toEqual({ jsonrpc: '2.0', id: request.id, error: { code: -32602, message } })
  expect((await sessions.list({}, { limit: 10 })).items).toEqual([])
})

test.each([
  ['a text', 'req-a', 'req-a'],
  ['a number', 17, 17],
  ['a negative number', -1.5, -1.5],
  ['an empty text', '', ''],
  ['null', null, null],
  ['an object', { a: 1 }, null],
  ['a list', ['a'], null],
  ['true', true, null],
  ['absent', undefined, null],
])('echoes an id that is %s', async (_name, id, echoed) => {
  const { post } = await openA2A({ echo })
  const answer = (await (
    await post('sendMessage', { ...rpc('sendMessage', 'echo', 'hi'), id, jsonrpc: '1' })
  ).json()) as Failure
  expect(answer.id).toEqual(echoed)
  const valid = (await (await post('sendMessage', { ...rpc('sendMessage', 'echo', 'hi'), id })).json()) as Failure
  expect(valid.id).toEqual(echoed)
  expect('result' in valid).toBe(id === 'req-a')
})

test.each([
  ['{"jsonrpc":"2.0",', -32700],
  ['', -32700],
  ['nonsense', -32700],
  ['[]', -32600],
  [JSON.stringify([rpc('sendMessage', 'echo', 'a')]), -32600],
  ['null', -32600],
  ['"text"', -32600],
  ['7', -32600],
  [`{"id":"a","__proto__":{"x":1}}`, -32600],
  [`${'['.repeat(100)}${']'.repeat(100)}`, -32600],
])('answers a body that is no request: %s', async (body, code) => {
  const { post } = await openA2A({ echo })
  const response = await post('sendMessage', body)
  const answer = (await response.json()) as Failure
  expect(response.status).toBe(200)
  expect(answer).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } })
  expect('result' in answer).toBe(false)
})

test('keeps the status of what HTTP itself refuses, with a JSON-RPC body', async () => {
  const { post } = await openA2A({ echo }, { authKeys: [{ key: 'secret-key-1234567890' }], maxRequestBytes: 500 })
  const key = { authorization: 'Bearer secret-key-1234567890' }
  const request = rpc('sendMessage', 'echo', 'hi')
  const statuses: Record<string, number> = {}
  const note = async (name: string, pending: ReturnType<typeof post>) => {
    const response = await pending
    statuses[name] = response.status
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } })
    return response
  }
  const refused = await note('no key', post('sendMessage', request))
  expect(refused.headers['www-authenticate']).toBeDefined()
  await note('foreign origin', post('sendMessage', request, { ...key, origin: 'http://evil.example' }))
  await note('too large', post('sendMessage', rpc('sendMessage', 'echo', 'x'.repeat(1000)), key))
  await note('text', post('sendMessage', request, { ...key, 'content-type': 'text/plain' }))
  expect(statuses).toEqual({ 'no key': 401, 'foreign origin': 403, 'too large': 413, text: 415 })
  const response = await post('sendMessage', request, { ...key, 'content-type': 'application/rpc+json; charset=utf-8' })
  expect(await response.json()).toHaveProperty('result.task.status', 'completed')
})

test('refuses a foreign host with 421 and a JSON-RPC body', async () => {
  const { post } = await openA2A({ echo }, { boundHost: '127.0.0.1' })
  const response = await post('sendMessage', rpc('sendMessage', 'echo', 'hi'), { host: 'evil.example' })
  expect(response.status).toBe(421)
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } })
})
