import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditAction, AuditEntry } from '../../src/core/access/audit.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { mountedRoutes } from '../api/access/routes.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

/*
 * Every route that changes something is in the log, or docs/security.md says why not: a new one fails here until one of them is so.
 */

const api = '/api/v1'
const secret = 'the-words-that-stay-secret'

const asking = agent({
  async *run({ resumed }) {
    yield resumed === undefined ? { type: 'input_required', call_id: 'may', prompt: secret } : 'Thanks.'
  },
})
const endless = agent({
  async *run({ signal }) {
    yield 'first'
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  },
})

interface Ask {
  path: string
  body?: unknown
  headers?: Record<string, string>
}
type Act = [action: AuditAction, ask: () => Promise<Ask>, entry?: Partial<AuditEntry>]

let server: RunningTestServer
beforeAll(async () => {
  server = await startServer(
    {
      auth: { keys: [{ id: 'desk', key: 'the-key-of-the-desk' }] },
      a2a: { push: { allowHttp: true, allowPrivate: true } },
      studio: { again: true },
    },
    { asking, endless },
    { schedules: { yearly: { cron: '0 0 1 1 *', agent: 'echo', input: secret } }, withTests: true },
  )
})
afterAll(() => server.close())

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  server.call(method, path, body, { authorization: 'Bearer the-key-of-the-desk', ...headers })
const made = async (path: string, body: unknown) => (await call('POST', path, body)).json
const told = async (requestId: string): Promise<AuditEntry[]> => {
  const { entries } = (await call('GET', `${api}/audit?limit=100`)).json
  return entries.filter(({ request_id, action }: AuditEntry) => request_id === requestId && action !== 'key.use')
}

const echo = (more: object = {}) => made(`${api}/agents/echo/run`, { input: secret, ...more })
const session = async () => (await echo()).session_id as string
const waiting = async () => (await made(`${api}/agents/asking/run`, { input: secret })).run_id as string
const working = () => made(`${api}/agents/endless/run`, { input: secret, background: true })
const document = async (source: string) =>
  (await made(`${api}/knowledge/content`, { content: source, source })).document_id as string
const replaced = async () => {
  const { run_id, session_id } = await echo()
  await echo({ session_id, replaces: run_id })
  return run_id as string
}
const tried = async () => {
  const { json } = await call('POST', `${api}/runs/${(await echo()).run_id}/again`, { after: 'live' })
  const [run] = json.runs
  await call('GET', `${api}/runs/${run.run_id}/events`)
  return run.run_id as string
}
const pushed = async (more: object = {}) => {
  const path = `${api}/a2a/agents/asking/tasks/${await waiting()}/pushNotificationConfigs`
  const body = { id: 'mine', url: 'http://127.0.0.1:1/x', token: secret, ...more }
  return { path, body }
}
const text = (pattern: RegExp) => expect.stringMatching(pattern) as unknown as string

/** By route: what it does to something that is there. */
const acts: Record<string, Act | Act[]> = {
  'PUT /api/v1/sessions/{id}': [
    'session.update',
    async () => ({ path: `${api}/sessions/${await session()}`, body: { name: secret, metadata: null } }),
    { object_kind: 'session', object_id: text(/^ses_/), detail: { fields: ['name', 'metadata'] } },
  ],
  'DELETE /api/v1/sessions/{id}': [
    ['session.delete', async () => ({ path: `${api}/sessions/${await session()}` }), { object_kind: 'session' }],
    ['session.delete', async () => ({ path: `${api}/sessions/none` }), { outcome: 'session_not_found' }],
  ],
  'POST /api/v1/sessions/{id}/reuse': [
    'session.reuse',
    async () => ({ path: `${api}/sessions/${await session()}/reuse`, body: { user_id: 'bob' } }),
  ],
  'DELETE /api/v1/sessions/{id}/shared/{kind}/{owner_id}': [
    'session.unshare',
    async () => {
      const id = await session()
      for (const user_id of ['ann', 'bob']) await made(`${api}/sessions/${id}/reuse`, { user_id })
      return { path: `${api}/sessions/${id}/shared/user/ann` }
    },
    { object_kind: 'session', detail: { kind: 'user' } },
  ],
  'POST /api/v1/sessions/prune': [
    'session.prune',
    async () => ({
      path: `${api}/sessions/prune`,
      body: { updated_before: '2000-01-01T00:00:00.000Z', user_id: 'bob', agent_id: 'echo' },
    }),
    {
      object_kind: 'user',
      object_id: 'bob',
      detail: { updated_before: '2000-01-01T00:00:00.000Z', agent_id: 'echo', deleted: 0 },
    },
  ],
  'POST /api/v1/sessions/{id}/fork': [
    'session.fork',
    async () => ({ path: `${api}/sessions/${await session()}/fork`, body: {} }),
    { object_kind: 'session', detail: { session_id: text(/^ses_/) } },
  ],
  'GET /api/v1/sessions/{id}/export': [
    'session.export',
    async () => ({ path: `${api}/sessions/${await session()}/export` }),
    { object_kind: 'session' },
  ],
  'POST /api/v1/sessions/import': [
    'session.import',
    async () => ({
      path: `${api}/sessions/import?new_ids=true`,
      body: (await call('GET', `${api}/sessions/${await session()}/export`)).text,
      headers: { 'content-type': 'application/x-ndjson' },
    }),
    { detail: { session_id: text(/^ses_/) } },
  ],
  'POST /api/v1/runs/{id}/cancel': [
    'run.cancel',
    async () => ({ path: `${api}/runs/${await waiting()}/cancel`, body: { reason: secret } }),
    { object_kind: 'run', detail: null },
  ],
  'POST /api/v1/runs/{id}/restore': ['run.restore', async () => ({ path: `${api}/runs/${await replaced()}/restore` })],
  'POST /api/v1/runs/{id}/resume': [
    'run.resume',
    async () => ({
      path: `${api}/runs/${await waiting()}/resume`,
      body: { answers: { may: { approved: false, reason: secret } } },
    }),
    { object_kind: 'run', detail: { approved: 0, denied: 1 } },
  ],
  'POST /api/v1/runs/{id}/again': [
    'run.again',
    async () => ({
      path: `${api}/runs/${(await echo()).run_id}/again`,
      body: { after: 'live', edit: { input: secret } },
    }),
    { object_kind: 'run', detail: { keep: 'no', run_ids: [text(/^run_/)] } },
  ],
  'POST /api/v1/runs/{id}/keep': [
    'run.keep',
    async () => ({ path: `${api}/runs/${await tried()}/keep`, body: { keep: 'fork' } }),
    { object_kind: 'run', detail: { keep: 'fork', run_id: text(/^run_/) } },
  ],
  'POST /api/v1/agents/{id}/run': [
    'run.replace',
    async () => {
      const { run_id, session_id } = await echo()
      return { path: `${api}/agents/echo/run`, body: { input: secret, session_id, replaces: run_id } }
    },
    { object_kind: 'run', detail: { run_id: text(/^run_/) } },
  ],
  'POST /api/v1/knowledge/content': [
    'knowledge.add',
    async () => ({ path: `${api}/knowledge/content`, body: { content: secret, source: 'a.md' } }),
    { object_kind: 'document', detail: { documents: 1 } },
  ],
  'POST /api/v1/knowledge/documents': [
    'knowledge.add',
    async () => ({
      path: `${api}/knowledge/documents`,
      body: { documents: ['1', '2'].map((source) => ({ content: source, source })) },
    }),
    { object_id: null, detail: { documents: 2 } },
  ],
  'DELETE /api/v1/knowledge/documents/{id}': [
    'knowledge.delete',
    async () => ({ path: `${api}/knowledge/documents/${await document('b.md')}` }),
    { object_kind: 'document' },
  ],
  'POST /api/v1/knowledge/reindex': [
    'knowledge.reindex',
    async () => ({ path: `${api}/knowledge/reindex`, body: {} }),
    { object_id: null },
  ],
  'PUT /api/v1/schedules/{id}': [
    [
      'schedule.pause',
      async () => ({ path: `${api}/schedules/yearly`, body: { paused: true } }),
      { object_id: 'yearly' },
    ],
    [
      'schedule.resume',
      async () => ({ path: `${api}/schedules/yearly`, body: { paused: false } }),
      { object_id: 'yearly' },
    ],
  ],
  'POST /api/v1/schedules/{id}/run': [
    'schedule.run',
    async () => ({ path: `${api}/schedules/yearly/run` }),
    { object_id: 'yearly', detail: { run_id: text(/^run_/) } },
  ],
  'GET /api/v1/users/{user_id}/export': [
    'user.export',
    async () => ({ path: `${api}/users/dan/export` }),
    { object_id: 'dan' },
  ],
  'DELETE /api/v1/users/{user_id}': ['user.erase', async () => ({ path: `${api}/users/dan` }), { object_id: 'dan' }],
  'DELETE /api/v1/users/{user_id}/facts': [
    'facts.delete',
    async () => ({ path: `${api}/users/ann/facts` }),
    { object_kind: 'user', object_id: 'ann', detail: { deleted: 0 } },
  ],
  'DELETE /api/v1/users/{user_id}/facts/{fact_id}': [
    'facts.delete',
    async () => ({ path: `${api}/users/ann/facts/none` }),
    { object_id: 'ann', detail: { fact_id: 'none' }, outcome: 'fact_not_found' },
  ],
  'GET /api/v1/backup': ['backup', async () => ({ path: `${api}/backup` }), { object_id: null }],
  'POST /api/v1/dev/tests': [
    'test.save',
    async () => ({ path: `${api}/dev/tests`, body: { session_id: await session(), name: 'kept' } }),
    { object_kind: 'test', object_id: 'kept', detail: { session_id: text(/^ses_/) } },
  ],
  'POST /api/v1/dev/tests/run': [
    'test.run',
    async () => ({ path: `${api}/dev/tests/run`, body: {} }),
    { detail: { mode: 'replay', update: false } },
  ],
  'POST /api/v1/a2a/agents/{id}': [
    'run.cancel',
    async () => ({
      path: `${api}/a2a/agents/asking`,
      body: { jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id: await waiting() } },
      headers: { 'a2a-version': '1.0' },
    }),
  ],
  'POST /api/v1/a2a/agents/{id}/tasks/{task}': [
    'run.cancel',
    async () => ({ path: `${api}/a2a/agents/asking/tasks/${await waiting()}:cancel`, body: {} }),
  ],
  'POST /api/v1/a2a/agents/{id}/tasks/{task}/pushNotificationConfigs': [
    'push.set',
    () => pushed(),
    { object_kind: 'run' },
  ],
  'DELETE /api/v1/a2a/agents/{id}/tasks/{task}/pushNotificationConfigs/{config}': [
    'push.delete',
    async () => {
      const { path, body } = await pushed()
      await made(path, body)
      return { path: `${path}/mine` }
    },
    { object_kind: 'run', detail: { config: 'mine' } },
  ],
  'POST /api/v1/chat/{agent}/{chat_id}/stop': [
    'run.cancel',
    async () => ({ path: `${api}/chat/endless/${(await working()).session_id}/stop`, body: {} }),
  ],
  'POST /v1/responses/{response_id}/cancel': [
    'run.cancel',
    async () => {
      const { id } = await made('/v1/responses', { model: 'endless', input: secret, background: true })
      return { path: `/v1/responses/${id}/cancel`, body: {} }
    },
  ],
  'DELETE /v1/conversations/{conversation_id}': [
    'session.delete',
    async () => ({ path: `/v1/conversations/${(await made('/v1/conversations', {})).id}` }),
  ],
  'POST /mcp': [
    'run.cancel',
    async () => ({
      path: '/mcp',
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'cancel_run', arguments: { run_id: await waiting() } },
      },
      headers: { accept: 'application/json, text/event-stream' },
    }),
  ],
}

const guide = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')
const [, exceptions = ''] = /\n### Not in the audit log\n([\s\S]*?)\n##/.exec(guide) ?? []
const excepted = [...exceptions.matchAll(/`(?:POST|PUT|PATCH|DELETE) \/[^`]+`/g)].map(([route]) => route.slice(1, -1))

test('every route that changes something is in the log, or is named with the reason why not', () => {
  const changing = mountedRoutes()
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !route.startsWith('GET '))
  const known = [...Object.keys(acts).filter((route) => !route.startsWith('GET ')), ...excepted]
  expect(known.toSorted()).toEqual(changing.toSorted())
})

describe('an act over each route', () => {
  const all = Object.entries(acts).flatMap(([route, given]) => {
    const list = (Array.isArray(given[0]) ? given : [given]) as Act[]
    return list.map(([action, ask, entry]) => [action, route, ask, entry] as const)
  })
  let asked = 0

  test.each(all)('%s by %s is in the log before its answer', async (action, route, ask, entry) => {
    const { path, body, headers } = await ask()
    const requestId = `req-${asked++}`
    const [method = ''] = route.split(' ')
    const answer = await call(method, path, body, { ...headers, 'x-request-id': requestId })
    const usual = { action, caller: 'desk', user_id: null, request_id: requestId, outcome: 'ok' }
    expect([answer.status < 500, await told(requestId)]).toEqual([
      true,
      [expect.objectContaining({ ...usual, ...entry })],
    ])
  })

  test('leaves nothing of contents there', async () => {
    const { text } = await call('GET', `${api}/audit?limit=100`)
    expect([text.includes('session.update'), text.includes(secret)]).toEqual([true, false])
  })
})
