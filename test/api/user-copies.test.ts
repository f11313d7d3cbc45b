import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

let server: RunningTestServer
beforeAll(async () => {
  const remembering = agent({
    memory: { user: true },
    run: async ({ text, user }) => (await user.remember(text)).fact_id,
  })
  server = await startServer(
    { auth: { keys: ['key-of-the-operator', { key: 'key-of-the-user-ann', userId: 'ann' }] } },
    { remembering },
  )
})
afterAll(() => server.close())

const as = (key: string, method: string, path: string, body?: unknown) =>
  server.call(method, `/api/v1${path}`, body, { authorization: `Bearer ${key}` })
const operate = (method: string, path: string, body?: unknown) => as('key-of-the-operator', method, path, body)
const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('everything of a user can be read in one file and then erased, and what others said stays', async () => {
  const own = (await as('key-of-the-user-ann', 'POST', '/agents/echo/run', { input: 'private walrus' })).json
  const shared = (await operate('POST', '/sessions', { user_id: 'ann' })).json.session_id
  const run = (input: string, user_id: string) =>
    operate('POST', '/agents/echo/run', { input, user_id, session_id: shared })
  const hers = (await run('a heron', 'ann')).json.run_id
  const telling = (await as('key-of-the-user-ann', 'POST', '/agents/remembering/run', { input: 'likes the ibis' })).json
  await operate('DELETE', `/sessions/${telling.session_id}`)
  await operate('POST', `/sessions/${shared}/reuse`, { user_id: 'bob' })
  await run('a pelican', 'bob')

  const exported = linesOf((await operate('GET', '/users/ann/export')).text)
  expect(exported.map(({ type }) => type)).toEqual([
    'user',
    'session',
    'run',
    'events',
    'end',
    'shared',
    'run',
    'events',
    'fact',
    'user_end',
  ])
  expect(exported[1].session.session_id).toBe(own.session_id)
  expect(exported.at(-4)).toMatchObject({ type: 'run', run: { run_id: hers } })
  expect(exported.at(-2)).toMatchObject({ type: 'fact', fact: { content: 'likes the ibis', agent_id: 'remembering' } })
  expect(exported.at(-1)).toEqual({ type: 'user_end', sessions: 1, runs: 1, facts: 1 })
  expect(JSON.stringify(exported)).not.toContain('pelican')

  const erased = await operate('DELETE', '/users/ann')
  expect([erased.status, erased.text]).toEqual([204, ''])
  expect((await operate('GET', `/sessions/${own.session_id}`)).status).toBe(404)
  expect((await operate('GET', `/runs/${own.run_id}`)).status).toBe(404)
  expect((await operate('GET', `/runs/${hers}`)).json).toMatchObject({ run_id: hers, messages: [] })
  const history = (await operate('GET', `/sessions/${shared}/history`)).text
  expect([history.includes('pelican'), history.includes('heron')]).toEqual([true, false])
  expect((await operate('GET', `/sessions/${shared}`)).json.shared_with.user_ids).toEqual([])
  expect(linesOf((await operate('GET', '/users/ann/export')).text).map(({ type }) => type)).toEqual([
    'user',
    'user_end',
  ])
  expect((await operate('DELETE', '/users/ann')).status).toBe(204)
})

test('a key of a user may neither export nor erase, not even the user, and may make no backup', async () => {
  for (const [method, path] of [
    ['GET', '/users/ann/export'],
    ['DELETE', '/users/ann'],
    ['GET', '/backup'],
  ] as const)
    expect((await as('key-of-the-user-ann', method, path)).status).toBe(403)
})
