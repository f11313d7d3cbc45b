import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { type Answer, type RunningTestServer, startServer } from '../../support/server.ts'

/* Keys that belong to users: each sees its own, and nobody else's exists. */

const api = '/api/v1'
const users = ['ann', 'bob'] as const
type User = (typeof users)[number]

interface Parameter {
  name: string
  in: string
}

interface Operation {
  operationId: string
  method: string
  path: string
  query: string[]
  open: boolean
}

let server: RunningTestServer
let operations: Operation[]
const own = {} as Record<User, { session: string; run: string; waiting: string }>

const as = (who: string, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { authorization: `Bearer key-of-${who}` })

const rpc = (method: string, message: object) => ({ jsonrpc: '2.0', id: '1', method, params: { message } })

/** What each request under the same idempotency key, or with the same messageId, made: always the same for one caller. */
async function keyedIds({ call }: RunningTestServer, who: string): Promise<string[]> {
  const headers = { authorization: `Bearer key-of-${who}` }
  const keyed = { ...headers, 'idempotency-key': 'k' }
  const parts = [{ type: 'text', content: 'x' }]
  const message = rpc('sendMessage', { messageId: 'm', role: 'user', agentId: 'echo', parts })
  return [
    (await call('POST', `${api}/sessions`, {}, keyed)).json.session_id,
    (await call('POST', `${api}/agents/echo/run`, { input: 'x' }, keyed)).json.run_id,
    (await call('POST', '/a2a/sendMessage', message, headers)).json.result.task.taskId,
    (await call('POST', '/a2a/sendMessage', message, keyed)).json.result.task.taskId,
  ]
}

/** Bodies that operations take. */
const bodies: Record<string, unknown[]> = {
  updateSession: [{ name: 'taken over' }],
  reuseSession: [{ agent_id: 'other' }],
  resumeRun: [{ approved: true }, { approved: true, background: true }, { approved: true, stream: true }],
}

const isOfRun = ({ path }: Operation) => path.includes('/runs/{id}')
const isOfSession = ({ path }: Operation) => path.includes('/sessions/{id}')
const tells = (answer: Answer, user: User) =>
  [own[user].session, own[user].run, own[user].waiting, `secret of ${user}`].filter((text) =>
    answer.text.includes(text),
  )

/** Each owner is asked for in every store, and the limit of runs stands before the services that a user sees. */
const ways: [string, ServerConfig][] = [
  ['SQLite', {}],
  ['memory and a limit of runs', { sessionStorage: 'memory', limits: { concurrentRuns: 20 } }],
]

describe.each(ways)('with %s', (_way, config) => {
  beforeAll(async () => {
    server = await startServer(
      {
        auth: {
          keys: [
            'key-of-all',
            'key-of-desk',
            ...[...users, 'cid'].map((userId) => ({
              key: `key-of-${userId}`,
              userId,
              scopes: ['run' as const, 'sessions' as const, 'prompts' as const, 'knowledge:read' as const],
            })),
          ],
        },
        a2a: { prefix: '/a2a' },
        // So that a test can be many addresses, which are not throttled together.
        trustProxy: 'loopback',
        ...config,
      },
      {
        waiting: agent({
          async *run({ signal }) {
            yield 'begun'
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          },
        }),
        asking: agent({
          async *run() {
            yield { type: 'input_required', prompt: 'May I?' }
          },
        }),
        pair: team({ members: ['echo'], mode: 'sequence' }),
      },
    )
    for (const user of users) {
      const { session_id, run_id } = (await as(user, 'POST', `${api}/agents/echo/run`, { input: `secret of ${user}` }))
        .json
      const { run_id: waiting } = (
        await as(user, 'POST', `${api}/agents/waiting/run`, { input: 'x', background: true })
      ).json
      own[user] = { session: session_id, run: run_id, waiting }
    }
    const { paths } = (await as('all', 'GET', '/openapi.json')).json as {
      paths: Record<string, Record<string, { operationId: string; security?: unknown[]; parameters?: Parameter[] }>>
    }
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, security, parameters = [] }]) => ({
        operationId,
        query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
        method: method.toUpperCase(),
        path,
        open: security?.length === 0,
      })),
    )
  })
  afterAll(() => server.close())

  test('what one user made does not exist for another, on any route', async () => {
    const about = operations.filter((operation) => isOfRun(operation) || isOfSession(operation))
    expect(about.length).toBeGreaterThanOrEqual(12)
    for (const [me, other] of [users, users.toReversed()] as [User, User][]) {
      for (const operation of about) {
        const { operationId, method } = operation
        const id = isOfRun(operation) ? own[other].run : own[other].session
        const hidden = [404, isOfRun(operation) ? 'run_not_found' : 'session_not_found']
        // For operators only: a user's key is refused before the id is looked up.
        const expected = operationId === 'repeatRun' ? [403, 'forbidden'] : hidden
        // What is wrong with the rest of a request tells nothing either.
        const targets = ['', ...operation.query.map((name) => `?${name}=~`)]
        for (const target of targets) {
          for (const body of method === 'GET' ? [undefined] : [...(bodies[operationId] ?? [{}]), '[']) {
            const ask = (asked: string) => as(me, method, operation.path.replace('{id}', asked) + target, body)
            const answer = await ask(id)
            const about = [operationId, target, body]
            expect([...about, answer.status, answer.json?.error?.code]).toEqual([...about, ...expected])
            const none = await ask('none')
            expect(answer.text.replaceAll(id, 'none').replace(/req_\w+/, '')).toBe(none.text.replace(/req_\w+/, ''))
          }
        }
      }
    }
    for (const user of users) {
      const session = await as(user, 'GET', `${api}/sessions/${own[user].session}`)
      expect(session.json).toMatchObject({ name: null, user_id: user, run_count: 1 })
      expect((await as(user, 'GET', `${api}/runs/${own[user].waiting}`)).json.status).toBe('running')
    }
  })

  test('no operation that takes no id of a path tells a user anything of another, whatever is asked for', async () => {
    const others = operations.filter(({ path }) => !path.includes('{'))
    expect(others.length).toBeGreaterThanOrEqual(18)
    const later = new Date(Date.now() + 60_000).toISOString()
    for (const [me, other] of [users, users.toReversed()] as [User, User][]) {
      const { session, run } = own[other]
      const foreign: Record<string, string> = {
        q: 'secret',
        user_id: other,
        session_id: session,
        parent_run_id: run,
        agent_id: 'echo',
        updated_before: later,
        new_ids: 'true',
      }
      const message = { messageId: `m-${me}`, role: 'user', agentId: 'echo', contextId: session }
      const foreignBodies: Record<string, unknown[]> = {
        createSession: [{ user_id: other }, { session_id: session }],
        pruneSessions: [
          { user_id: other, updated_before: later },
          { agent_id: 'none', updated_before: later },
        ],
        importSession: [{ session: { session_id: session, user_id: other } }],
        searchKnowledge: [{ query: 'secret' }],
        sendMessage: [rpc('sendMessage', { ...message, parts: [{ type: 'text', content: 'x' }] })],
        streamMessage: [rpc('streamMessage', { ...message, parts: [{ type: 'text', content: 'x' }] })],
      }
      for (const { operationId, method, path, query } of others) {
        const known = query.filter((name) => foreign[name] !== undefined)
        const needed = known.includes('q') ? '?q=secret' : ''
        const targets = [
          needed,
          ...known.map(
            (name) => `?${new URLSearchParams({ ...(needed && { q: 'secret' }), [name]: foreign[name] ?? '' })}`,
          ),
        ]
        for (const target of targets) {
          for (const body of foreignBodies[operationId] ?? [method === 'POST' ? {} : undefined]) {
            const answer = await as(me, method, path + target, body)
            // What the request itself said is no news.
            const said = JSON.stringify(body ?? '') + decodeURIComponent(target)
            expect([operationId, target, tells(answer, other).filter((text) => !said.includes(text))]).toEqual([
              operationId,
              target,
              [],
            ])
            expect([operationId, answer.status >= 500 && answer.status !== 501]).toEqual([operationId, false])
          }
        }
      }
    }
    expect((await as('cid', 'POST', `${api}/sessions/prune`, { updated_before: later })).json.deleted).toBe(0)
    for (const user of users) {
      expect((await as('all', 'GET', `${api}/sessions/${own[user].session}`)).json).toMatchObject({
        user_id: user,
        run_count: 1,
      })
      expect((await as(user, 'GET', `${api}/runs/${own[user].run}`)).json.status).toBe('completed')
    }
  })

  test('lists show a user the own things only, whatever is filtered for', async () => {
    for (const [me, other] of [users, users.toReversed()] as [User, User][]) {
      const filters = ['', `?user_id=${other}`, '?agent_id=echo', `?session_id=${own[other].session}`, '?limit=100']
      for (const list of ['sessions', 'runs']) {
        for (const filter of filters) {
          const answer = await as(me, 'GET', `${api}/${list}${filter}`)
          expect(answer.status, list + filter).toBe(200)
          expect(tells(answer, other), list + filter).toEqual([])
        }
        expect(tells(await as(me, 'GET', `${api}/${list}`), me).length).toBeGreaterThan(0)
      }
      const runs = await as('all', 'GET', `${api}/sessions/${own[me].session}/runs?limit=100`)
      expect([tells(runs, me), tells(runs, other)]).toEqual([[own[me].session, own[me].run], []])
      expect((await as(me, 'GET', `${api}/sessions?user_id=${other}`)).json.count).toBe(0)
      for (const filter of ['', `&user_id=${other}`, '&agent_id=echo', `&session_id=${own[other].session}`]) {
        const answer = await as(me, 'GET', `${api}/messages?q=secret${filter}`)
        expect([filter, answer.status, tells(answer, other)]).toEqual([filter, 200, []])
      }
      expect(tells(await as(me, 'GET', `${api}/messages?q=secret`), me)).toContain(`secret of ${me}`)
    }
  })

  describe('a user', () => {
    test('can not run in the session of another, nor act for another', async () => {
      const run = (body: object) => as('ann', 'POST', `${api}/agents/echo/run`, { input: 'x', ...body })
      expect((await run({ session_id: own.bob.session })).json.error.code).toBe('session_not_found')
      expect((await run({ user_id: 'bob' })).json.error.code).toBe('forbidden')
      expect((await as('ann', 'POST', `${api}/sessions`, { user_id: 'bob' })).json.error.code).toBe('forbidden')
      const reuse = await as('ann', 'POST', `${api}/sessions/${own.ann.session}/reuse`, { user_id: 'bob' })
      expect(reuse.json.error.code).toBe('forbidden')
      const ownRun = await run({ session_id: own.ann.session })
      expect(ownRun.status).toBe(200)
    })

    test('can not use the context of another over A2A', async () => {
      const message = (contextId: string) => ({
        jsonrpc: '2.0',
        id: '1',
        method: 'sendMessage',
        params: {
          message: {
            messageId: `m-${contextId}`,
            role: 'user',
            agentId: 'echo',
            contextId,
            parts: [{ type: 'text', content: 'x' }],
          },
        },
      })
      const foreign = await as('ann', 'POST', '/a2a/sendMessage', message(own.bob.session))
      expect(foreign.json.error).toMatchObject({ message: expect.stringContaining('session') })
      expect(foreign.json.result).toBeUndefined()
      const made = await as('ann', 'POST', '/a2a/sendMessage', message('of-ann'))
      expect(made.json.result).toBeDefined()
      expect((await as('bob', 'GET', `${api}/sessions/of-ann`)).status).toBe(404)
      expect((await as('ann', 'GET', `${api}/sessions/of-ann`)).json.user_id).toBe('ann')
    })

    test('gets a new context to itself, also when another names the same at once', async () => {
      const send = (user: User, contextId: string, messageId = 'first') => {
        const parts = [{ type: 'text', content: `said by ${user}` }]
        const message = { messageId, role: 'user', agentId: 'echo', contextId, parts }
        return as(user, 'POST', '/a2a/sendMessage', rpc('sendMessage', message))
      }
      for (let round = 0; round < 10; round++) {
        const context = `shared-${round}`
        const answers = await Promise.all(users.map((user) => send(user, context)))
        expect(answers.filter(({ json }) => json.result?.task.status === 'completed')).toHaveLength(1)
        for (const user of users) {
          const history = await as(user, 'GET', `${api}/sessions/${context}/history`)
          const mine = answers[users.indexOf(user)]?.json.result !== undefined
          expect([history.status, history.json.messages?.length]).toEqual(mine ? [200, 2] : [404, undefined])
          if (mine) expect(history.text).not.toContain(`said by ${users.find((other) => other !== user)}`)
        }
        expect((await as('all', 'GET', `${api}/sessions/${context}`)).json).toMatchObject({
          agent_id: 'echo',
          run_count: 1,
        })
      }
      const both = await Promise.all(['one', 'two'].map((id) => send('ann', 'of-ann-alone', id)))
      expect(both.map(({ json }) => json.result?.task.status)).toEqual(['completed', 'completed'])
    })

    test('owns the sessions it makes, and sees the runs that were made for it', async () => {
      const { session_id, user_id } = (await as('ann', 'POST', `${api}/sessions`)).json
      expect(user_id).toBe('ann')
      expect((await as('bob', 'GET', `${api}/sessions/${session_id}`)).status).toBe(404)
      const nobodys = (await as('all', 'POST', `${api}/sessions`)).json.session_id
      const body = { input: 'x', session_id: nobodys, user_id: 'ann' }
      const { run_id } = (await as('all', 'POST', `${api}/agents/echo/run`, body)).json
      expect((await as('ann', 'GET', `${api}/runs/${run_id}`)).status).toBe(200)
      expect((await as('ann', 'GET', `${api}/sessions/${nobodys}`)).status).toBe(404)
      expect((await as('bob', 'GET', `${api}/runs/${run_id}`)).status).toBe(404)
    })

    test('can not have the session of another summed up in the background', async () => {
      const answer = await as('ann', 'POST', `${api}/sessions/${own.bob.session}/summary?async=true`)
      expect([answer.status, answer.json.error.code]).toEqual([404, 'session_not_found'])
    })

    test('imports for itself alone, over nobody, and prunes nothing of another', async () => {
      const type = { 'content-type': 'application/x-ndjson' }
      const load = (who: string, lines: string, query = '') =>
        server.call('POST', `${api}/sessions/import${query}`, lines, { authorization: `Bearer key-of-${who}`, ...type })
      const ofBob = (await as('bob', 'GET', `${api}/sessions/${own.bob.session}/export`)).text
      expect((await load('ann', ofBob)).json.error.code).toBe('forbidden')
      expect((await load('ann', ofBob, '?new_ids=true')).json.error.code).toBe('forbidden')
      const [head = '', ...rest] = ofBob.split('\n')
      const line = JSON.parse(head)
      line.session.user_id = null
      line.session.shared_with.user_ids = ['bob']
      const nobodys = [JSON.stringify(line), ...rest].join('\n')
      expect((await load('ann', nobodys)).json.error.code).toBe('conflict')
      const made = await load('ann', nobodys, '?new_ids=true')
      expect(made.json).toMatchObject({ user_id: 'ann', shared_with: { user_ids: [] }, run_count: 1 })
      const { session_id, runs } = made.json
      expect((await as('bob', 'GET', `${api}/sessions/${session_id}`)).status).toBe(404)
      expect((await as('bob', 'GET', `${api}/runs/${runs[0].run_id}`)).status).toBe(404)
      expect((await as('bob', 'GET', `${api}/runs?limit=100`)).text).not.toContain(runs[0].run_id)
      const fork = await as('ann', 'POST', `${api}/sessions/${session_id}/fork`, {})
      expect(fork.json).toMatchObject({ user_id: 'ann', run_count: 1 })
      const updated_before = '2999-01-01T00:00:00.000Z'
      expect((await as('ann', 'POST', `${api}/sessions/prune`, { updated_before, user_id: 'bob' })).status).toBe(403)
      await as('all', 'DELETE', `${api}/sessions/${fork.json.session_id}`)
      await as('all', 'DELETE', `${api}/sessions/${session_id}`)
      expect((await as('bob', 'GET', `${api}/sessions/${own.bob.session}`)).status).toBe(200)
    })

    test('owns the parts of its runs', async () => {
      const { run_id } = (await as('ann', 'POST', `${api}/agents/pair/run`, { input: 'x' })).json
      const { runs } = (await as('ann', 'GET', `${api}/runs?parent_run_id=${run_id}`)).json
      expect(runs).toMatchObject([{ entity_id: 'echo', parent_run_id: run_id }])
      expect((await as('ann', 'GET', `${api}/runs/${runs[0].run_id}`)).status).toBe(200)
      expect((await as('bob', 'GET', `${api}/runs/${runs[0].run_id}`)).status).toBe(404)
      expect((await as('bob', 'GET', `${api}/runs?parent_run_id=${run_id}`)).json.count).toBe(0)
    })

    test('cancels what waits in its own run alone', async () => {
      const ask = (user: User) => as(user, 'POST', `${api}/agents/asking/run`, { input: 'x' })
      const [ofAnn, ofBob] = [await ask('ann'), await ask('bob')]
      expect(ofBob.json.status).toBe('input_required')
      expect((await as('ann', 'POST', `${api}/runs/${ofAnn.json.run_id}/cancel`, {})).json.status).toBe('cancelled')
      expect((await as('bob', 'GET', `${api}/runs/${ofBob.json.run_id}`)).json.status).toBe('input_required')
    })

    test('forks at no run of another, and is not told that there is one', async () => {
      const fork = (run_id: string) => as('ann', 'POST', `${api}/sessions/${own.ann.session}/fork`, { run_id })
      const none = await fork('run_none')
      expect(none.status).toBe(404)
      for (const run of [own.bob.run, own.bob.waiting]) {
        const answer = await fork(run)
        expect(answer.text.replace(run, 'run_none').replace(/req_\w+/, '')).toBe(none.text.replace(/req_\w+/, ''))
      }
    })

    test('gets an own answer for an idempotency key that another used', async () => {
      const all: string[] = []
      for (const who of [...users, 'all', 'desk']) {
        const made = await keyedIds(server, who)
        expect(await keyedIds(server, who)).toEqual(made)
        all.push(...made)
      }
      expect(new Set(all).size).toBe(16)
    })

    test('sees what was handed over, and a key without a user sees all', async () => {
      const { session_id } = (await as('all', 'POST', `${api}/sessions`, { user_id: 'ann' })).json
      await as('all', 'POST', `${api}/sessions/${session_id}/reuse`, { user_id: 'bob' })
      for (const user of users) expect((await as(user, 'GET', `${api}/sessions/${session_id}`)).status).toBe(200)
      for (const user of users) {
        const fork = await as(user, 'POST', `${api}/sessions/${session_id}/fork`, {})
        expect([user, fork.status, fork.json.user_id]).toEqual(
          user === 'bob' ? ['bob', 201, 'bob'] : ['ann', 404, undefined],
        )
      }
      const fork = (await as('all', 'POST', `${api}/sessions/${session_id}/fork`, {})).json
      expect(fork).toMatchObject({ user_id: 'bob', shared_with: { user_ids: [] } })
      expect((await as('ann', 'GET', `${api}/sessions/${fork.session_id}`)).status).toBe(404)
      expect((await as('ann', 'GET', `${api}/messages?q=secret&user_id=bob`)).json.count).toBe(0)
      for (const user of users) {
        expect((await as('all', 'GET', `${api}/sessions/${own[user].session}`)).json.user_id).toBe(user)
        expect((await as('all', 'GET', `${api}/runs/${own[user].run}`)).status).toBe(200)
      }
    })
  })

  test('every route that is not open refuses a caller without the right key, before it reads the body', async () => {
    const closed = operations.filter(({ open }) => !open)
    expect(closed.length).toBeGreaterThan(20)
    for (const [place, { method, path }] of closed.entries()) {
      const target = path.replace('{id}', own.ann.session)
      const body = method === 'GET' ? undefined : '{"not": json'
      const type = { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${place}` }
      const without = await server.call(method, target, body, type)
      const wrong = await server.call(method, target, body, { ...type, 'x-api-key': 'wrong' })
      // JSON-RPC has codes of its own, and pages of useChat show the whole body of an error.
      const isCard = method === 'GET' && /^\/a2a\/agents(?:\/\{id\}(?:\/\.well-known.*)?)?$/.test(path)
      const usual = path.startsWith('/v1/') ? 'invalid_api_key' : 'unauthorized'
      const isRpc = path === '/mcp' || (path.startsWith('/a2a') && !isCard)
      const code = isRpc ? expect.toBeOneOf([-32600, 401]) : usual
      for (const { status, json, headers } of [without, wrong]) {
        expect([path, status, json?.error?.code ?? headers.get('x-error-code')]).toEqual([path, 401, code])
      }
    }
  })
})

test('what an idempotency key gave one user is not given to another whose key has its place now', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-users-'))
  const keyOf = (userId: string) => ({ key: `key-of-${userId}`, userId })
  const serve = (...keys: string[]) =>
    startServer({
      auth: { keys: keys.map(keyOf) },
      a2a: { prefix: '/a2a' },
      sessionStorage: { type: 'sqlite', path: join(folder, 'agentserve.db') },
    })
  try {
    const before = await serve('ann', 'bob')
    const ofAnn = await keyedIds(before, 'ann')
    expect(await keyedIds(before, 'ann')).toEqual(ofAnn)
    await before.close()
    const after = await serve('bob')
    const ofBob = await keyedIds(after, 'bob')
    await after.close()
    expect(new Set([...ofAnn, ...ofBob]).size).toBe(8)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a key has at most so many runs under way', async () => {
  const limited = await startServer(
    { auth: { keys: ['key-of-ann', 'key-of-bob'] }, limits: { concurrentRuns: 2 } },
    {
      waiting: agent({
        async *run({ signal }) {
          yield 'begun'
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        },
      }),
    },
  )
  try {
    const run = (user: string, agentId: string) =>
      limited.call(
        'POST',
        `${api}/agents/${agentId}/run`,
        { input: 'x', background: agentId === 'waiting' },
        {
          'x-api-key': `key-of-${user}`,
        },
      )
    const first = await run('ann', 'waiting')
    expect([first.status, (await run('ann', 'waiting')).status]).toEqual([202, 202])
    const refused = await run('ann', 'echo')
    expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limited'])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await run('bob', 'echo')).status).toBe(200)
    await limited.call('POST', `${api}/runs/${first.json.run_id}/cancel`, {}, { 'x-api-key': 'key-of-ann' })
    await expect.poll(async () => (await run('ann', 'echo')).status).toBe(200)
  } finally {
    await limited.close()
  }
})
