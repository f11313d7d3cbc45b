import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { type As, api, type People, toMessage, withPeople } from './people.ts'
import { mountedRoutes } from './routes.ts'

/* A session of ann that an operator gave to bob: ann reads what was there, and changes nothing. */

const ways: [string, ServerConfig][] = [
  ['SQLite', {}],
  ['memory and a limit of runs', { sessionStorage: 'memory', limits: { concurrentRuns: 50 } }],
]
const later = '2999-01-01T00:00:00.000Z'
const idsOf = (answer: { json: { runs: { run_id: string; parent_run_id: string | null }[] } }) =>
  answer.json.runs.filter(({ parent_run_id }) => parent_run_id === null).map(({ run_id }) => run_id)

const linesOf = (copy: string) =>
  copy
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe.each(ways)('with %s', (_way, config) => {
  let people: People
  let ann: As
  let bob: As
  let operator: As
  let session: string
  let at: string
  /** Before the handover: a team's run and the run within it, and one that waits; after it one of each of bob. */
  let own: { team: string; child: string; waiting: string }
  let his: { team: string; child: string; waiting: string }

  beforeAll(async () => {
    people = await withPeople(['ann', 'bob', 'cid'], config)
    ;[ann, bob] = [people.as('ann'), people.as('bob')]
    operator = people.operator
  })
  afterAll(() => people.server.close())

  async function fill(as: As, text: string) {
    const run = async (agentId: string) =>
      (await as('POST', `${api}/agents/${agentId}/run`, { input: text, session_id: session })).json.run_id as string
    const team = await run('pair')
    const children = await as('GET', `${api}/runs?parent_run_id=${team}`)
    return { team, child: children.json.runs[0].run_id as string, waiting: await run('asking') }
  }

  beforeEach(async () => {
    const made = await ann('POST', `${api}/sessions`, { agent_id: 'pair', name: 'early', state: { of: 'ann' } })
    session = made.json.session_id
    at = `${api}/sessions/${session}`
    own = await fill(ann, 'early words')
    await ann('POST', `${at}/summary`)
    await operator('POST', `${at}/reuse`, { user_id: 'bob' })
    his = await fill(bob, 'hidden words')
    await bob('PUT', at, { name: 'hidden name', state: { of: 'hidden' }, metadata: { of: 'hidden' } })
  })

  test('an earlier user reads the runs up to the handover, the same on every route, and nothing later', async () => {
    const { json } = await ann('GET', at)
    expect(json).toMatchObject({ run_count: 2, name: null, state: null, metadata: null, user_id: 'bob' })
    expect(json.shared_with.user_ids).toEqual(['ann'])
    expect(json.summary.run_count).toBe(2)
    const turns = [own.team, own.waiting]
    const history = await ann('GET', `${at}/history?stream_events=true`)
    expect([idsOf({ json }), idsOf(history), history.json.has_more]).toEqual([turns, turns, false])
    expect(idsOf(await ann('GET', `${at}/history?num_messages=1`))).toEqual([own.waiting])
    expect((await ann('GET', `${at}/history?num_messages=1`)).json.has_more).toBe(true)
    expect(idsOf(await ann('GET', `${at}/runs?limit=100`)).reverse()).toEqual(turns)
    expect(idsOf(await ann('GET', `${api}/runs?session_id=${session}`)).reverse()).toEqual(turns)
    const { sessions } = (await ann('GET', `${api}/sessions`)).json
    const listed = sessions.find((one: { session_id: string }) => one.session_id === session)
    expect([idsOf({ json: listed }), listed.run_count, listed.name]).toEqual([turns, 2, null])
    for (const run of [own.team, own.child, own.waiting]) {
      for (const rest of ['', '/events', '/trace', '/text']) {
        expect([rest, (await ann('GET', `${api}/runs/${run}${rest}`)).status]).toEqual([rest, 200])
      }
    }
    expect((await ann('GET', `${api}/runs?session_id=${session}&parent_run_id=${own.team}`)).json.count).toBe(1)
    for (const run of [his.team, his.child, his.waiting]) {
      for (const rest of ['', '/events', '/trace', '/text']) {
        const answer = await ann('GET', `${api}/runs/${run}${rest}`)
        expect([rest, answer.status, answer.json.error.code]).toEqual([rest, 404, 'run_not_found'])
      }
    }
    expect((await ann('GET', `${api}/messages?q=words&session_id=${session}`)).text).toContain('early')
    const lines = (await ann('GET', `${at}/export`)).text.trim().split('\n')
    const copied = lines
      .map((line) => JSON.parse(line))
      .flatMap(({ type, run }) => (type === 'run' ? [run.run_id] : []))
    expect(copied).toEqual([own.team, own.child, own.waiting])
    for (const path of ['', '/runs', '/history?stream_events=true', '/export', '/summary']) {
      const { text } = await ann('GET', at + path)
      for (const secret of ['hidden', his.team, his.child, his.waiting]) expect([path, text]).not.toContain(secret)
      expect([path, text.includes('hidden')]).toEqual([path, false])
    }
    for (const path of ['sessions?limit=100', 'runs?limit=100', 'messages?q=hidden', 'messages?q=words']) {
      const { text } = await ann('GET', `${api}/${path}`)
      for (const secret of ['hidden', his.team, his.child, his.waiting]) {
        expect([path, secret, text.includes(secret)]).toEqual([path, secret, false])
      }
    }
  })

  test('an earlier user can take the own part away, as an own session', async () => {
    const copy = (await ann('GET', `${at}/export`)).text
    const made = await ann('POST', `${api}/sessions/import?new_ids=true`, copy, {
      'content-type': 'application/x-ndjson',
    })
    expect([made.status, made.json.user_id, made.json.run_count]).toEqual([201, 'ann', 2])
    expect((await bob('GET', `${api}/sessions/${made.json.session_id}`)).status).toBe(404)
  })

  test('a summary that knows of later runs is not shown', async () => {
    expect((await bob('POST', `${at}/summary`)).json.summary.run_count).toBe(4)
    const answer = await ann('GET', `${at}/summary`)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'summary_not_found'])
    expect((await ann('GET', at)).json.summary).toBeNull()
    expect((await ann('GET', `${at}/history`)).json.summary).toBeNull()
    expect((await bob('GET', `${at}/summary`)).status).toBe(200)
  })

  test('every change needs the present user', async () => {
    const key = { 'idempotency-key': `key-${session}` }
    const bodies: Record<string, unknown> = {
      updateSession: { name: 'mine' },
      reuseSession: { agent_id: 'other' },
      cancelRun: {},
      keepRun: { keep: 'replace' },
      resumeRun: { approved: true },
    }
    const changes = mountedRoutes().filter(
      ({ method, path }) => method !== 'GET' && /\/(?:runs|sessions)\/\{id\}/.test(path),
    )
    expect(changes.map(({ doc }) => doc.operationId).sort()).toEqual(
      'cancelRun createSummary deleteSession forkSession keepRun repeatRun restoreRun resumeRun reuseSession unshareSession updateSession'.split(
        ' ',
      ),
    )
    for (const { method, path, doc } of changes) {
      const target = path
        .replace('{id}', path.includes('/runs/') ? own.waiting : session)
        .replace('{kind}/{owner_id}', 'user/ann')
      const answer = await ann(method, target, bodies[doc.operationId] ?? {})
      const missing = path.includes('/runs/') ? 'run_not_found' : 'session_not_found'
      const [status, code] = doc.scope === 'operator' ? [403, 'forbidden'] : [404, missing]
      expect([doc.operationId, answer.status, answer.json.error.code]).toEqual([doc.operationId, status, code])
    }
    for (const way of ['run', 'run/stream']) {
      const run = await ann('POST', `${api}/agents/echo/${way}`, { input: 'x', session_id: session }, key)
      expect([way, run.status, run.json.error.code]).toEqual([way, 404, 'session_not_found'])
    }
    for (const method of ['sendMessage', 'streamMessage']) {
      const sent = await ann('POST', `${api}/a2a/${method}`, toMessage(method, { messageId: 'm', contextId: session }))
      expect([method, sent.json.error.code]).toEqual([method, -32602])
    }
    await ann('POST', `${api}/sessions/prune`, { updated_before: later, agent_id: 'pair' })
    const after = (await bob('GET', at)).json
    expect(after).toMatchObject({
      name: 'hidden name',
      run_count: 4,
      shared_with: { agent_ids: [], user_ids: ['ann'] },
    })
    expect(after.runs[1]).toMatchObject({ run_id: own.waiting, status: 'input_required' })
    expect((await bob('POST', `${api}/runs/${own.waiting}/resume`, { approved: true })).json.status).toBe('completed')
  })

  test('an answer that an idempotency key gave is not given again in a session of another', async () => {
    const made = (await ann('POST', `${api}/sessions`, {})).json.session_id
    const keyed = { 'idempotency-key': `again-${made}` }
    const ask = () => ann('POST', `${api}/agents/echo/run`, { input: 'once', session_id: made }, keyed)
    const message = toMessage('sendMessage', { messageId: 'once', contextId: made })
    const send = async () => (await ann('POST', `${api}/a2a/sendMessage`, message)).json
    const first = [(await ask()).json.run_id, (await send()).result.task.taskId]
    expect([(await ask()).json.run_id, (await send()).result.task.taskId]).toEqual(first)
    await operator('POST', `${api}/sessions/${made}/reuse`, { user_id: 'bob' })
    expect([(await ask()).status, (await send()).error.code]).toEqual([404, -32602])
  })

  test('the present user sees all of it, in the list of runs as in the history', async () => {
    const turns = [own.team, own.waiting, his.team, his.waiting]
    expect(idsOf(await bob('GET', `${at}/history`))).toEqual(turns)
    expect(idsOf(await bob('GET', `${at}/runs?limit=100`)).reverse()).toEqual(turns)
    expect(idsOf(await operator('GET', `${at}/runs?limit=100`)).reverse()).toEqual(turns)
    expect((await bob('GET', `${api}/messages?q=early`)).text).toContain(session)
    for (const run of [own.team, own.child]) expect((await bob('GET', `${api}/runs/${run}`)).status).toBe(200)
  })

  test('what an operator runs in a session is in both lists, too', async () => {
    const { run_id } = (await operator('POST', `${api}/agents/echo/run`, { input: 'x', session_id: session })).json
    expect(idsOf(await bob('GET', `${at}/history`))).toContain(run_id)
    expect(idsOf(await bob('GET', `${at}/runs`))).toContain(run_id)
    expect((await ann('GET', `${api}/runs/${run_id}`)).status).toBe(404)
  })

  test('a name is taken out by the present user and operators, once', async () => {
    const remove = (as: As, owner: string, kind = 'user') => as('DELETE', `${at}/shared/${kind}/${owner}`)
    await operator('POST', `${at}/reuse`, { user_id: 'cid' })
    expect((await remove(people.as('cid'), 'ann')).status).toBe(204)
    const again = await remove(people.as('cid'), 'ann')
    expect([again.status, again.json.error.code]).toEqual([404, 'owner_not_found'])
    expect((await remove(operator, 'bob')).status).toBe(204)
    expect((await remove(operator, 'cid')).status).toBe(404)
    expect((await remove(operator, 'x', 'planet')).status).toBe(400)
    for (const as of [ann, bob]) {
      expect([(await as('GET', at)).status, (await as('GET', `${at}/history`)).status]).toEqual([404, 404])
    }
    expect((await ann('GET', `${api}/messages?q=hidden`)).json.count).toBe(0)
    // A run that was made for a user is the user's, wherever it is.
    expect((await ann('GET', `${api}/runs/${own.team}`)).status).toBe(200)
    expect((await ann('GET', `${api}/runs/${his.team}`)).status).toBe(404)
  })

  test('a copy of the whole session keeps how far an earlier user may read', async () => {
    const copy = (await operator('GET', `${at}/export`)).text
    await operator('DELETE', at)
    for (const [query, count] of [
      ['', 2],
      ['?new_ids=true', 2],
    ] as const) {
      const path = `${api}/sessions/import${query}`
      const made = await operator('POST', path, copy, { 'content-type': 'application/x-ndjson' })
      expect(made.status).toBe(201)
      const seen = await ann('GET', `${api}/sessions/${made.json.session_id}`)
      expect([seen.json.run_count, seen.json.runs.length]).toEqual([count, 2])
      if (query === '') expect(linesOf((await operator('GET', `${at}/export`)).text)).toEqual(linesOf(copy))
    }
  })

  test('who follows a run when the session changes hands hears its end, and not of the next', async () => {
    const begun = await bob('POST', `${api}/agents/echo/run`, { input: 'seen', session_id: session })
    await operator('POST', `${at}/reuse`, { user_id: 'cid' })
    const next = await people.as('cid')('POST', `${api}/agents/echo/run`, { input: 'unseen', session_id: session })
    expect((await bob('GET', `${api}/runs/${begun.json.run_id}/events`)).text).toContain('run_end')
    expect((await bob('GET', `${api}/runs/${next.json.run_id}/events`)).status).toBe(404)
    expect((await bob('GET', at)).json.run_count).toBe(5)
  })
})
