import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../../src/testing/scripted-model.ts'
import { type RunningTestServer, startServer } from '../../../support/server.ts'
import { assistant, user } from './support.ts'

const key = (name: string) => `the-key-of-${name}-${'x'.repeat(24)}`
const model = scriptedModel(({ text }) => (text === 'call' ? { tool_calls: [{ name: 'pick', input: {} }] } : 'Noted.'))
let server: RunningTestServer

beforeAll(async () => {
  const people = ['ann', 'bob'].map((userId) => ({ key: key(userId), userId }))
  const reader = { key: key('reader'), scopes: ['sessions' as const] }
  server = await startServer({ auth: { keys: [key('operator'), ...people, reader] } }, { docs: agent({ model }) })
})
afterAll(() => server.close())

const ask = (name: string, body: object, headers: Record<string, string> = {}) =>
  server.call(
    'POST',
    '/v1/chat/completions',
    { model: 'docs', ...body },
    {
      authorization: `Bearer ${key(name)}`,
      ...headers,
    },
  )
const sessionOf = (answer: { headers: Headers }) => answer.headers.get('x-session-id')

test('conversations of a user go on without a name of the person, and only for that user', async () => {
  const first = [user('hello')]
  const second = [...first, assistant('Noted.'), user('again')]
  const [ann, bob] = [await ask('ann', { messages: first }), await ask('bob', { messages: first })]
  expect(ann.json.choices[0].message.content).toBe('Noted.')
  expect(sessionOf(await ask('bob', { messages: second }))).toBe(sessionOf(bob))
  expect(sessionOf(await ask('ann', { messages: second }))).toBe(sessionOf(ann))
  // The operator's key has no user, and the request names nobody.
  expect([sessionOf(ann), sessionOf(bob)]).not.toContain(sessionOf(await ask('operator', { messages: second })))
})

test("another user's session is refused and nothing of it is told, nor is it changed", async () => {
  const headers = { 'x-session-id': 'of-ann' }
  await ask('ann', { messages: [user('the private words of ann')] }, headers)
  const calls = model.calls.length
  const refused = await ask('bob', { messages: [user('hello')] }, headers)
  expect([refused.status, refused.json.error.code]).toEqual([404, 'conversation_not_found'])
  expect(refused.text).not.toContain('private')
  expect(model.calls.length).toBe(calls)
  const { json } = await server.call('GET', '/api/v1/sessions/of-ann/history', undefined, {
    authorization: `Bearer ${key('operator')}`,
  })
  expect(json.messages).toHaveLength(2)
})

test("another user's run is not resumed by the ids of its calls", async () => {
  const tools = [{ type: 'function', function: { name: 'pick' } }]
  const asked = await ask('ann', { messages: [user('call')], tools })
  const { message } = asked.json.choices[0]
  const outcome = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'red' }
  const messages = [user('call'), message, outcome]
  const runId = asked.headers.get('x-run-id')
  const other = await ask('bob', { messages, tools })
  expect([other.status, other.headers.get('x-run-id') === runId]).toEqual([200, false])
  expect((await ask('ann', { messages, tools })).headers.get('x-run-id')).toBe(runId)
})

test('a key without the scope, or none, is refused in the words of OpenAI', async () => {
  const forbidden = await ask('reader', { messages: [user('x')] })
  expect([forbidden.status, forbidden.json.error.type]).toEqual([403, 'permission_error'])
  const unknown = await ask('nobody', { messages: [user('x')] })
  expect([unknown.status, unknown.json.error.code]).toEqual([401, 'invalid_api_key'])
})
