import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/* What came before a turn: older pages of the history, and a fork before it. */

const api = '/api/v1'
const ann = { authorization: 'Bearer the-key-of-ann' }
const bob = { authorization: 'Bearer the-key-of-bob' }
const operator = { authorization: 'Bearer the-key-of-operator' }
const counting = agent({
  async *run({ state, text }) {
    if (text !== 'look') state.n = Number(state.n ?? 0) + 1
    yield `${text} ${state.n}`
  },
})
const waits = agent({
  async *run({ signal }) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
})

describe.each(['memory', undefined] as const)('before a turn, storage: %s', (sessionStorage) => {
  let server: RunningTestServer
  beforeAll(async () => {
    const keys = [
      'the-key-of-operator',
      { key: 'the-key-of-ann', userId: 'ann' },
      { key: 'the-key-of-bob', userId: 'bob' },
    ]
    server = await startServer(
      { auth: { keys }, ...(sessionStorage === undefined ? {} : { sessionStorage }) },
      { counting, waits, pair: team({ members: ['counting'], mode: 'sequence' }) },
    )
  })
  afterAll(() => server.close())

  const post = (path: string, body: unknown = {}, as = operator) => server.call('POST', api + path, body, as)
  const get = (path: string, as = operator) => server.call('GET', api + path, undefined, as)
  async function say(session_id: string, input: string, more: object = {}, as = operator): Promise<string> {
    const { status, json } = await post('/agents/counting/run', { input, session_id, ...more }, as)
    expect([status, json.error]).toEqual([200, undefined])
    return json.run_id
  }
  async function opened(more: object = {}) {
    const { session_id: id } = (await post('/sessions', { name: 'Named', agent_id: 'counting', ...more })).json
    const runs: string[] = []
    for (const text of ['one', 'two', 'look', 'four']) runs.push(await say(id, text))
    return { id, runs: runs as [string, string, string, string] }
  }
  const idsIn = ({ json }: { json: { runs: { run_id: string }[] } }) => json.runs.map(({ run_id }) => run_id)
  const fork = async (id: string, body: object) => {
    const { status, json } = await post(`/sessions/${id}/fork`, body)
    expect([status, json.error]).toEqual([201, undefined])
    return json
  }
  const saidIn = async (id: string) =>
    (await get(`/sessions/${id}/history`)).json.messages.map(({ content }: { content: string }) => content)

  test('pages of the history lead to the first turn, without gaps or repeats', async () => {
    const { id, runs } = await opened()
    const seen: string[] = []
    for (let before: string | undefined, more = true; more; ) {
      const page = await get(`/sessions/${id}/history?num_messages=3${before === undefined ? '' : `&before=${before}`}`)
      seen.unshift(...idsIn(page))
      before = idsIn(page)[0]
      more = page.json.has_more
    }
    expect(seen).toEqual(runs)
    expect((await get(`/sessions/${id}/history?before=${runs[0]}`)).json).toMatchObject({
      runs: [],
      messages: [],
      has_more: false,
    })
    const withEvents = (await get(`/sessions/${id}/history?before=${runs[2]}&stream_events=true`)).json
    expect(withEvents.runs.map((run: { events: unknown[] }) => run.events.length > 1)).toEqual([true, true])
  })

  test('the history before a replaced turn is what led to it; with replaced turns, all that came earlier', async () => {
    const { id, runs } = await opened()
    const again = await say(id, 'another two', { replaces: runs[1] })
    expect(idsIn(await get(`/sessions/${id}/history?before=${runs[3]}`))).toEqual(runs.slice(0, 3))
    expect(idsIn(await get(`/sessions/${id}/history?before=${again}`))).toEqual([runs[0]])
    expect(idsIn(await get(`/sessions/${id}/history?before=${again}&replaced=true`))).toEqual(runs)
  })

  test('a run that is no turn of the session is not found', async () => {
    const { id } = await opened()
    const other = await opened()
    const { run_id } = (await post('/agents/pair/run', { input: 'x', session_id: id })).json
    const child = (await get(`/runs?parent_run_id=${run_id}`)).json.runs[0].run_id
    for (const before of ['none', other.runs[1], child]) {
      for (const { status, json } of [
        await get(`/sessions/${id}/history?before=${before}`),
        await post(`/sessions/${id}/fork`, { before_run_id: before }),
      ]) {
        expect([before, status, json.error.code]).toEqual([before, 404, 'run_not_found'])
      }
    }
  })

  test('a fork before a turn has what led to it, and the state from then', async () => {
    const { id, runs } = await opened({ state: { kept: true }, metadata: { ticket: 1 } })
    const made = await fork(id, { before_run_id: runs[1], session_id: `fork-of-${id}` })
    expect(made).toMatchObject({
      session_id: `fork-of-${id}`,
      name: 'Named',
      agent_id: 'counting',
      run_count: 1,
      state: { kept: true, n: 1 },
      metadata: { ticket: 1, forked_from: { session_id: id, run_id: runs[0] } },
      summary: null,
    })
    expect(await saidIn(made.session_id)).toEqual(['one', 'one 1'])
    await say(made.session_id, 'two again')
    expect(await saidIn(made.session_id)).toEqual(['one', 'one 1', 'two again', 'two again 2'])
    expect((await get(`/sessions/${id}`)).json).toMatchObject({ run_count: 4, state: { n: 3 } })
    // The turn itself changed nothing, the one after it did.
    expect(await fork(id, { before_run_id: runs[2] })).toMatchObject({ run_count: 2, state: { n: 2 } })
  })

  test('a fork before the first turn is empty, with the owners and the state from before', async () => {
    const { id, runs } = await opened({ user_id: 'ann', state: { n: 10 } })
    const made = (await post(`/sessions/${id}/fork`, { before_run_id: runs[0] }, ann)).json
    expect(made).toMatchObject({
      name: 'Named',
      agent_id: 'counting',
      user_id: 'ann',
      run_count: 0,
      runs: [],
      state: { n: 10 },
      metadata: { forked_from: { session_id: id, run_id: null } },
    })
    expect(await saidIn(made.session_id)).toEqual([])
    await say(made.session_id, 'anew', {}, ann)
    expect(await saidIn(made.session_id)).toEqual(['anew', 'anew 11'])
  })

  test('a fork before a replaced turn has the conversation and the state that it saw', async () => {
    const { id, runs } = await opened()
    await say(id, 'another two', { replaces: runs[1] })
    const made = await fork(id, { before_run_id: runs[3] })
    expect(await saidIn(made.session_id)).toEqual(['one', 'one 1', 'two', 'two 2', 'look', 'look 2'])
    expect(made).toMatchObject({ state: { n: 2 }, metadata: { forked_from: { run_id: runs[2] } } })
  })

  test('a turn under way can be forked before, one that comes after it cannot', async () => {
    const { id, runs } = await opened()
    const start = (session_id: string) => post('/agents/waits/run', { input: 'x', session_id, background: true })
    const [running, queued] = [(await start(id)).json.run_id, (await start(id)).json.run_id]
    expect(await fork(id, { before_run_id: running })).toMatchObject({
      run_count: 4,
      state: { n: 3 },
      metadata: { forked_from: { run_id: runs[3] } },
    })
    const refused = await post(`/sessions/${id}/fork`, { before_run_id: queued })
    expect([refused.status, refused.json.error.code]).toEqual([409, 'conflict'])
    for (const run of [queued, running]) await post(`/runs/${run}/cancel`)
  })

  test('a fork at a run and before one at once is refused', async () => {
    const { id, runs } = await opened()
    const { status, json } = await post(`/sessions/${id}/fork`, { run_id: runs[0], before_run_id: runs[1] })
    expect([status, json.error.message]).toEqual([400, "before_run_id can't be combined with run_id."])
  })

  test('a former user gets older pages of the own part, and none that begin after it', async () => {
    const { id, runs } = await opened({ user_id: 'ann' })
    await post(`/sessions/${id}/reuse`, { user_id: 'bob' })
    const later = await say(id, 'hidden', {}, bob)
    const next = await say(id, 'hidden', { replaces: runs[3] }, bob)
    const read = (query: string) => get(`/sessions/${id}/history?${query}`, ann)
    expect(idsIn(await read(`before=${runs[2]}`))).toEqual(runs.slice(0, 2))
    expect(idsIn(await read(`before=${runs[3]}&replaced=true`))).toEqual(runs.slice(0, 3))
    expect((await read(`before=${runs[3]}`)).text).not.toContain(next)
    for (const before of [later, next]) {
      for (const query of [`before=${before}`, `before=${before}&replaced=true`]) {
        const { status, json } = await read(query)
        expect([query, status, json.error.code]).toEqual([query, 404, 'run_not_found'])
      }
    }
    const forked = await post(`/sessions/${id}/fork`, { before_run_id: runs[1] }, ann)
    expect([forked.status, forked.json.error.code]).toEqual([404, 'session_not_found'])
    expect(idsIn(await get(`/sessions/${id}/history?before=${later}`, bob))).toEqual(runs)
  })
})
