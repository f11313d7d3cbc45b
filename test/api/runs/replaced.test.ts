import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const api = '/api/v1'
const echo = agent({
  async *run({ text }) {
    yield text
  },
})
const told = agent({
  async *run({ history, userId }) {
    yield `${userId}: ${(await history()).map(({ content }) => content).join(' ')}`
  },
})
const counting = agent({
  async *run({ state }) {
    state.n = Number(state.n ?? 0) + 1
    yield String(state.n)
  },
})
const failing = agent({
  // biome-ignore lint/correctness/useYield: it says nothing.
  async *run() {
    throw new Error('No.')
  },
})
const waits = agent({
  async *run({ signal }) {
    yield 'so '
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
})
const asks = agent({
  async *run() {
    yield { type: 'input_required', call_id: 'may', prompt: 'May I?' }
  },
})

describe.each(['memory', undefined] as const)('replaced runs, storage: %s', (sessionStorage) => {
  let server: RunningTestServer
  beforeAll(async () => {
    server = await startServer(sessionStorage === undefined ? {} : { sessionStorage }, {
      echo,
      told,
      counting,
      failing,
      waits,
      asks,
    })
  })
  afterAll(() => server.close())

  const post = (path: string, body: unknown = {}) => server.call('POST', `${api}${path}`, body)
  const get = async (path: string) => (await server.call('GET', `${api}${path}`)).json
  const open = async (more: object = {}) => (await post('/sessions', more)).json.session_id as string
  async function say(id: string, session_id: string, more: object = {}): Promise<string> {
    const { status, json } = await post(`/agents/${id}/run`, { input: 'word', session_id, ...more })
    expect([status, json.error]).toEqual([200, undefined])
    return json.run_id
  }
  const shown = async (session: string, query = '') =>
    (await get(`/sessions/${session}/history${query}`)).runs.map(({ run_id }: { run_id: string }) => run_id)

  test('leave prompts and history, stay in lists, and come back when they are restored', async () => {
    const session = await open()
    const first = await say('echo', session, { input: 'one' })
    const second = await say('echo', session, { input: 'two' })
    const third = await say('told', session, { replaces: second })
    expect((await get(`/runs/${third}`)).content).toBe('null: one one')
    expect(await shown(session)).toEqual([first, third])
    expect(await shown(session, '?replaced=true')).toEqual([first, second, third])
    expect((await get(`/sessions/${session}`)).run_count).toBe(3)
    expect((await get(`/runs/${second}`)).replaced_by).toBe(third)
    const found = await get(`/messages?q=two&session_id=${session}`)
    expect(found.messages.map(({ replaced }: { replaced?: true }) => replaced)).toEqual([true, true])
    const restored = await post(`/runs/${second}/restore`)
    expect([restored.status, restored.json.run_id, restored.json.replaced_by]).toEqual([200, second, null])
    expect(await shown(session)).toEqual([first, second])
    const again = await post(`/runs/${second}/restore`)
    expect([again.status, again.json.error.code]).toEqual([409, 'conflict'])
  })

  test('are turns of the session, once', async () => {
    const session = await open()
    const run = await say('echo', session)
    const elsewhere = await say('echo', await open())
    const ask = (body: object) => post('/agents/echo/run', { input: 'x', session_id: session, ...body })
    expect((await post('/agents/echo/run', { input: 'x', replaces: run })).json.error.details).toMatchObject([
      { path: 'session_id' },
    ])
    for (const replaces of [elsewhere, 'run_none']) {
      const { status, json } = await ask({ replaces })
      expect([status, json.error.code]).toEqual([404, 'run_not_found'])
    }
    expect((await ask({ replaces: '' })).status).toBe(400)
    const both = await Promise.all([ask({ replaces: run }), ask({ replaces: run })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = both.find(({ status }) => status === 200)?.json.run_id
    const loser = both.find(({ status }) => status === 409)?.json.error
    expect(loser).toMatchObject({ code: 'conflict', run_id: winner })
    expect(await shown(session)).toEqual([winner])
  })

  test('that are under way or wait are cancelled first, and approve nothing', async () => {
    const session = await open()
    const { json: active } = await post('/agents/waits/run', { input: 'x', session_id: session, background: true })
    const next = await say('echo', session, { replaces: active.run_id })
    expect(await get(`/runs/${active.run_id}`)).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'superseded',
      replaced_by: next,
    })
    const paused = await say('asks', session)
    const last = await say('echo', session, { replaces: paused })
    expect(await get(`/runs/${paused}`)).toMatchObject({ status: 'cancelled', cancellation_reason: 'superseded' })
    expect((await post(`/runs/${paused}/resume`, { approved: true })).status).toBe(409)
    expect(await shown(session)).toEqual([next, last])
  })

  test('come back with the state when the run in their place fails before it says anything', async () => {
    const session = await open()
    const first = await say('counting', session)
    const second = await say('counting', session)
    const failed = await post('/agents/failing/run', { input: 'x', session_id: session, replaces: second })
    expect(failed.status).toBe(500)
    expect(await shown(session)).toEqual([first, second])
    expect((await get(`/sessions/${session}`)).state).toEqual({ n: 2 })
    const third = await say('counting', session, { replaces: second })
    expect((await get(`/runs/${third}`)).content).toBe('2')
  })

  test('go with an export, a fork and an import, which refuses marks that mean nothing', async () => {
    const session = await open()
    const first = await say('echo', session)
    const second = await say('echo', session, { replaces: first })
    const { text } = await server.call('GET', `${api}/sessions/${session}/export`)
    const load = (body: string) =>
      server.call('POST', `${api}/sessions/import?new_ids=true`, body, { 'content-type': 'application/x-ndjson' })
    const copy = await load(text)
    expect(copy.status).toBe(201)
    const [replaced, current] = copy.json.runs
    expect([replaced.replaced_by, current.replaced_by]).toEqual([current.run_id, null])
    expect(await shown(copy.json.session_id)).toEqual([current.run_id])
    for (const mark of ['run_none', first]) {
      const changed = text.replace(`"replaced_by":"${second}"`, `"replaced_by":"${mark}"`)
      expect((await load(changed)).status).toBe(400)
    }
    const fork = await post(`/sessions/${session}/fork`, { run_id: first })
    expect(fork.json.runs.map((run: { replaced_by: string }) => run.replaced_by)).toEqual([null])
    expect((await post(`/sessions/${session}/fork`)).json.runs).toHaveLength(2)
  })

  test('a run without a user has that of its session', async () => {
    const session = await open({ user_id: 'ann' })
    const run = await say('told', session)
    expect((await get(`/runs/${run}`)).content).toBe('ann: ')
    const own = (await get(`/runs/${await say('told', await open())}`)).content
    expect(own).toBe('null: ')
  })
})
