import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { KeySettings } from '../../src/config/settings/keys.ts'
import type { AuditEntry } from '../../src/core/access/audit.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { audience, openIssuer } from '../support/issuer.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const api = '/api/v1'
const secret = 'the-words-that-stay-secret'

const asking = agent({
  async *run({ resumed }) {
    yield resumed === undefined ? { type: 'input_required', call_id: 'may', prompt: secret } : 'Thanks.'
  },
})
const remembering = agent({
  memory: { user: true },
  async run({ text, user }) {
    return (await user.remember(text)).fact_id
  },
})

const keys: KeySettings[] = [
  { id: 'desk', key: 'the-key-of-the-desk' },
  { id: 'admin', key: 'the-key-of-the-admin', scopes: ['admin', 'sessions'] },
  { id: 'laptop', key: 'the-key-of-the-laptop', userId: 'ann' },
]

describe('the audit log', () => {
  let server: RunningTestServer
  beforeAll(async () => {
    server = await startServer(
      { auth: { keys }, a2a: { push: { allowHttp: true, allowPrivate: true } } },
      { asking, remembering },
      { schedules: { yearly: { cron: '0 0 1 1 *', agent: 'echo', input: secret } } },
    )
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

  type Ask = { who?: string; method: string; path: string; body?: unknown; headers?: Record<string, string> }
  const acts: [action: string, ask: () => Promise<Ask>, entry: Partial<AuditEntry>][] = [
    [
      'session.delete',
      async () => ({ method: 'DELETE', path: `/sessions/${await session()}` }),
      { object_kind: 'session', object_id: expect.stringMatching(/^ses_/) as unknown as string },
    ],
    ['session.delete', async () => ({ method: 'DELETE', path: '/sessions/none' }), { outcome: 'session_not_found' }],
    [
      'session.prune',
      async () => ({
        method: 'POST',
        path: '/sessions/prune',
        body: { updated_before: '2000-01-01T00:00:00.000Z', user_id: 'bob', agent_id: 'echo' },
      }),
      {
        object_kind: 'user',
        object_id: 'bob',
        detail: { updated_before: '2000-01-01T00:00:00.000Z', agent_id: 'echo', deleted: 0 },
      },
    ],
    [
      'session.export',
      async () => ({ method: 'GET', path: `/sessions/${await session()}/export` }),
      { object_kind: 'session' },
    ],
    [
      'session.import',
      async () => ({
        method: 'POST',
        path: '/sessions/import?new_ids=true',
        body: (await desk('GET', `/sessions/${await session()}/export`)).text,
        headers: { 'content-type': 'application/x-ndjson' },
      }),
      { detail: { session_id: expect.stringMatching(/^ses_/) as unknown as string } },
    ],
    [
      'session.reuse',
      async () => ({ method: 'POST', path: `/sessions/${await session()}/reuse`, body: { user_id: 'bob' } }),
      {},
    ],
    [
      'session.unshare',
      async () => {
        const id = await session()
        for (const user_id of ['ann', 'bob']) await desk('POST', `/sessions/${id}/reuse`, { user_id })
        return { method: 'DELETE', path: `/sessions/${id}/shared/user/ann` }
      },
      { object_kind: 'session', detail: { kind: 'user' } },
    ],
    [
      'run.resume',
      async () => {
        const { run_id } = (await desk('POST', '/agents/asking/run', { input: secret })).json
        return {
          method: 'POST',
          path: `/runs/${run_id}/resume`,
          body: { answers: { may: { approved: false, reason: secret } } },
        }
      },
      { object_kind: 'run', detail: { approved: 0, denied: 1 } },
    ],
    [
      'facts.delete',
      async () => ({ who: 'laptop', method: 'DELETE', path: '/users/ann/facts' }),
      { caller: 'laptop', user_id: 'ann', object_kind: 'user', object_id: 'ann', detail: { deleted: 0 } },
    ],
    ['user.export', async () => ({ method: 'GET', path: '/users/dan/export' }), { object_id: 'dan' }],
    [
      'user.erase',
      async () => ({ who: 'admin', method: 'DELETE', path: '/users/dan' }),
      { caller: 'admin', object_id: 'dan' },
    ],
    ['backup', async () => ({ method: 'GET', path: '/backup' }), { object_id: null }],
    [
      'knowledge.add',
      async () => ({ method: 'POST', path: '/knowledge/content', body: { content: secret, source: 'a.md' } }),
      { object_kind: 'document', detail: { documents: 1 } },
    ],
    [
      'knowledge.add',
      async () => ({
        method: 'POST',
        path: '/knowledge/documents',
        body: {
          documents: [
            { content: 'one', source: '1' },
            { content: 'two', source: '2' },
          ],
        },
      }),
      { object_id: null, detail: { documents: 2 } },
    ],
    [
      'knowledge.delete',
      async () => {
        const { document_id } = (await desk('POST', '/knowledge/content', { content: 'gone', source: 'b.md' })).json
        return { method: 'DELETE', path: `/knowledge/documents/${document_id}` }
      },
      { object_kind: 'document' },
    ],
    ['knowledge.reindex', async () => ({ method: 'POST', path: '/knowledge/reindex', body: {} }), { object_id: null }],
    [
      'schedule.pause',
      async () => ({ method: 'PUT', path: '/schedules/yearly', body: { paused: true } }),
      { object_id: 'yearly' },
    ],
    [
      'schedule.resume',
      async () => ({ method: 'PUT', path: '/schedules/yearly', body: { paused: false } }),
      { object_id: 'yearly' },
    ],
    [
      'schedule.run',
      async () => ({ method: 'POST', path: '/schedules/yearly/run' }),
      { object_id: 'yearly', detail: { run_id: expect.stringMatching(/^run_/) as unknown as string } },
    ],
  ]

  test.each(acts)('has %s before its answer', async (action, ask, entry) => {
    const { who = 'desk', method, path, body, headers } = await ask()
    const requestId = `req-${Math.trunc(performance.now() * 1000)}`
    const answer = await as(who, method, path, body, { ...headers, 'x-request-id': requestId })
    const usual = { action, caller: 'desk', user_id: null, request_id: requestId, outcome: 'ok' }
    expect([answer.status < 500, await told(requestId)]).toEqual([
      true,
      [expect.objectContaining({ ...usual, ...entry })],
    ])
  })

  test('has what other protocols do, and the push targets of tasks', async () => {
    const { run_id } = (await desk('POST', '/agents/asking/run', { input: secret })).json
    const push = `/a2a/agents/asking/tasks/${run_id}/pushNotificationConfigs`
    const target = { id: 'mine', url: 'http://127.0.0.1:1/x', token: secret }
    expect((await desk('POST', push, target)).status).toBe(200)
    expect((await desk('DELETE', `${push}/mine`)).status).toBeLessThan(300)
    const conversation = await server.call(
      'POST',
      '/v1/conversations',
      {},
      { authorization: 'Bearer the-key-of-the-desk' },
    )
    await server.call('DELETE', `/v1/conversations/${conversation.json.id}`, undefined, {
      authorization: 'Bearer the-key-of-the-desk',
    })
    const actions = (await entries()).map(({ action }) => action)
    expect(actions.slice(0, 3)).toEqual(['session.delete', 'push.delete', 'push.set'])
  })

  test('has nothing of plain runs, of reading, and of a retry that was answered before', async () => {
    const before = await entries()
    const id = await session()
    await desk('GET', `/sessions/${id}/history`)
    await desk('POST', '/agents/echo/run/stream', { input: secret, session_id: id })
    await desk('POST', '/knowledge/content', { content: secret, source: 'a.md' })
    expect(await entries()).toEqual(before)
  })

  test('has one use of each key in a day, and one refusal of each route in an hour', async () => {
    for (let time = 0; time < 3; time++) {
      expect((await as('laptop', 'GET', '/me')).status).toBe(200)
      expect((await as('laptop', 'GET', '/backup')).status).toBe(403)
    }
    const uses = await entries('&action=key.use')
    expect(uses.filter(({ caller }) => caller === 'laptop')).toHaveLength(1)
    expect(new Set(uses.map(({ caller }) => caller)).size).toBe(uses.length)
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
    const { json } = await as('admin', 'GET', '/audit?limit=1&action=session.delete')
    expect([json.entries.length, json.count, json.entries[0].action]).toEqual([1, 1, 'session.delete'])
    const next = await as('admin', 'GET', `/audit?limit=1&action=session.delete&cursor=${json.next_cursor}`)
    expect(next.json.entries[0].entry_id).not.toBe(json.entries[0].entry_id)
    const { at } = json.entries[0]
    expect((await entries(`&since=${at}`)).at(-1)?.at).toBe(at)
    expect((await entries(`&until=${at}`)).every((entry) => entry.at < at)).toBe(true)
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
