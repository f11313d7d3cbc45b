import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { KeySettings } from '../../src/config/settings/keys.ts'
import type { AuditEntry } from '../../src/core/access/audit.ts'
import { audience, openIssuer } from '../support/issuer.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const api = '/api/v1'
const secret = 'the-words-that-stay-secret'

const keys: KeySettings[] = [
  { id: 'desk', key: 'the-key-of-the-desk' },
  { id: 'admin', key: 'the-key-of-the-admin', scopes: ['admin', 'sessions'] },
  { id: 'laptop', key: 'the-key-of-the-laptop', userId: 'ann' },
]

describe('the audit log', () => {
  let server: RunningTestServer
  beforeAll(async () => {
    server = await startServer({ auth: { keys } })
  })
  afterAll(() => server.close())

  const as = (who: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.call(method, api + path, body, { authorization: `Bearer the-key-of-the-${who}`, ...headers })
  const desk = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    as('desk', method, path, body, headers)
  const entries = async (query = ''): Promise<AuditEntry[]> =>
    (await as('admin', 'GET', `/audit?limit=100${query}`)).json.entries
  /** What the request with this id has left. */
  const told = async (requestId: string) =>
    (await entries()).filter(({ request_id, action }) => request_id === requestId && action !== 'key.use')
  const session = async () => (await desk('POST', '/agents/echo/run', { input: secret })).json.session_id as string

  test('has the user of a key, and what it did', async () => {
    await as('laptop', 'DELETE', '/users/ann/facts', undefined, { 'x-request-id': 'forget' })
    expect(await told('forget')).toEqual([
      expect.objectContaining({
        action: 'facts.delete',
        caller: 'laptop',
        user_id: 'ann',
        object_id: 'ann',
        outcome: 'ok',
      }),
    ])
  })

  test('has nothing of plain runs, of reading, and of a retry that was answered before', async () => {
    await desk('POST', '/knowledge/content', { content: secret, source: 'a.md' })
    const acts = async () => (await entries()).filter(({ action }) => action !== 'key.use')
    const before = await acts()
    const id = await session()
    await desk('GET', `/sessions/${id}/history`)
    await desk('POST', '/agents/echo/run/stream', { input: secret, session_id: id })
    await desk('POST', '/knowledge/content', { content: secret, source: 'a.md' })
    expect(await acts()).toEqual(before)
  })

  test('has one use of each key in a day, and one refusal of each route in an hour', async () => {
    for (let time = 0; time < 3; time++) {
      expect((await as('laptop', 'GET', '/me')).status).toBe(200)
      expect((await as('laptop', 'GET', '/backup')).status).toBe(403)
    }
    const uses = async () => (await entries('&action=key.use')).map(({ caller }) => caller)
    await expect.poll(async () => (await uses()).toSorted()).toEqual(['admin', 'desk', 'laptop'])
    expect(await entries('&action=access.denied&caller=laptop')).toEqual([
      expect.objectContaining({
        object_kind: 'route',
        object_id: `GET ${api}/backup`,
        outcome: 'forbidden',
        user_id: 'ann',
      }),
    ])
  })

  test('is read by who has the scope admin, and changed by nobody', async () => {
    expect((await as('laptop', 'GET', '/audit')).status).toBe(403)
    expect((await server.call('GET', `${api}/audit`)).status).toBe(401)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await desk(method, '/audit', {})
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD, OPTIONS'])
    }
    const [newest] = await entries()
    expect((await desk('DELETE', `/audit/${newest?.entry_id}`)).status).toBe(404)
  })

  test('is filtered, and says what is wrong with a filter', async () => {
    for (let time = 0; time < 2; time++) await desk('DELETE', `/sessions/${await session()}`)
    const { json } = await as('admin', 'GET', '/audit?limit=1&action=session.delete')
    expect([json.entries.length, json.count, json.entries[0].action]).toEqual([1, 1, 'session.delete'])
    const next = await as('admin', 'GET', `/audit?limit=1&action=session.delete&cursor=${json.next_cursor}`)
    expect(next.json.entries[0].entry_id).not.toBe(json.entries[0].entry_id)
    const { at } = json.entries[0]
    expect((await entries(`&since=${at}`)).at(-1)?.at).toBe(at)
    expect((await entries(`&until=${at}`)).every((entry) => entry.at < at)).toBe(true)
    const long = 'x'.repeat(400)
    await desk('DELETE', `/users/${'u'.repeat(256)}/facts/none`)
    expect((await as('admin', 'GET', `/audit?caller=${long}`)).json).toMatchObject({ entries: [], count: 0 })
    for (const query of ['action=nothing', 'since=yesterday', 'limit=0', 'cursor=x', 'user_id='])
      expect([query, (await as('admin', 'GET', `/audit?${query}`)).status]).toEqual([query, 400])
  })

  test('has no contents', async () => {
    expect(JSON.stringify(await entries())).not.toContain(secret)
    expect(JSON.stringify(await entries())).not.toContain('the-key-of')
  })
})

test('an erased user is a pseudonym in earlier entries, the same in all, and named where it was erased', async () => {
  const issuer = await openIssuer()
  onTestFinished(() => issuer.stop())
  const jwt = { issuer: issuer.url, audience, scopeClaim: 'scope' }
  const server = await startServer({ auth: { keys: ['the-key-of-operator'], jwt } })
  onTestFinished(() => server.close())
  const operator = (method: string, path: string) =>
    server.call(method, api + path, undefined, { authorization: 'Bearer the-key-of-operator' })
  const ann = { authorization: `Bearer ${await issuer.sign({ scope: 'run sessions' })}` }
  const { session_id } = (await server.call('POST', `${api}/agents/echo/run`, { input: 'x' }, ann)).json
  await server.call('DELETE', `${api}/sessions/${session_id}`, undefined, ann)
  await operator('GET', '/users/ann/export')
  expect((await operator('DELETE', '/users/ann')).status).toBe(204)
  const { entries } = (await operator('GET', '/audit')).json as { entries: AuditEntry[] }
  const [erase, ...earlier] = entries
  expect(erase).toMatchObject({ action: 'user.erase', object_id: 'ann', outcome: 'ok' })
  expect(JSON.stringify(earlier)).not.toContain('ann')
  const names = earlier.flatMap(({ caller, user_id, object_kind, object_id }) =>
    [caller, user_id, object_kind === 'user' ? object_id : null].filter((name) => name?.startsWith('erased_')),
  )
  expect([names.length >= 4, new Set(names).size]).toEqual([true, 1])
})
