import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import { AppError } from '../../../src/core/error.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { systemTimers } from '../../../src/runtime/timers.ts'
import type { Idempotency, RunHandle, StartRun } from '../../../src/service/services.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { TestInstances } from '../../support/instances.ts'
import { collect, echo, gate, openServices, request, runnable } from '../../support/services.ts'

const keyed = (attempt?: Idempotency['attempt'], hash = 'h'): Pick<StartRun, 'idempotency'> => ({
  idempotency: { key: 'k', hash, whileRunning: 'conflict', attempt },
})
const first = keyed('first')
const again = keyed('again')
const tenMinutesMs = 10 * 60 * 1000

const failing = runnable(async function* () {
  yield 'so far'
  throw new AppError('run_failed', 'no')
})
const asking = runnable(async function* (_input, { resumed }) {
  if (resumed === undefined) yield { type: 'input_required', prompt: 'How many?' }
  else yield 'done'
})

const open = (entities: Parameters<typeof openServices>[0], store?: SessionStore, clock?: () => number) =>
  openServices(entities, store, 30_000, usualLimits(), systemTimers, clock)

describe('a first request', () => {
  test('takes the key over from an earlier one that was the same, which goes on', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const { runs, store } = await open({ slow })
    const one = await runs.start(request('slow', 'x', first))
    await begun(0)
    const two = await runs.start(request('slow', 'x', first))
    await begun(1)
    expect([one.replayed, two.replayed, one.runId === two.runId]).toEqual([false, false, false])
    expect((await store.findClaim('k'))?.run_id).toBe(two.runId)
    const joined = await runs.start(request('slow', 'x', again))
    expect([joined.runId, joined.replayed]).toEqual([two.runId, true])
    go(0)
    go(1)
    expect([await one.result(), await two.result()]).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
    expect((await store.listRuns({}, { limit: 10 })).items).toHaveLength(2)
  })

  test('is its own run beside others that come at once, each once', async () => {
    const { runs, store } = await open({ echo })
    const handles = await Promise.all([1, 2, 3, 4].map(() => runs.start(request('echo', 'x', first))))
    const results = await Promise.all(handles.map((handle) => handle.result()))
    expect(new Set(results.map(({ run_id: runId }) => runId)).size).toBe(4)
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
    expect((await store.listRuns({}, { limit: 10 })).items).toHaveLength(4)
    expect((await store.listSessions({}, { limit: 10 })).items).toHaveLength(4)
    expect(runs.active).toBe(0)
  })

  test('waits in its session behind the earlier one, and interrupts it when told to', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const { runs } = await open({ slow })
    const one = await runs.start(request('slow', 'x', { ...first, sessionId: 's' }))
    await begun(0)
    const two = await runs.start(request('slow', 'x', { ...first, sessionId: 's' }))
    expect((await runs.get(two.runId)).status).toBe('queued')
    go(0)
    await begun(1)
    const three = await runs.start(request('slow', 'x', { ...first, sessionId: 's', strategy: 'interrupt' }))
    expect(await one.result()).toMatchObject({ status: 'completed' })
    expect(await two.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'superseded' })
    await begun(2)
    go(2)
    expect(await three.result()).toMatchObject({ status: 'completed' })
  })

  test('writes its claim with its start, and a second time only when the key is taken', async () => {
    const store = memoryStore()
    const starts: unknown[] = []
    let reads = 0
    const counting: SessionStore = {
      ...store,
      startRun: (start) => {
        starts.push(start.claim?.over)
        return store.startRun(start)
      },
      findClaim: (key) => {
        reads++
        return store.findClaim(key)
      },
    }
    const { runs } = await open({ echo }, counting)
    const one = await runs.start(request('echo', 'x', first))
    expect([starts, reads]).toEqual([[undefined], 0])
    await runs.start(request('echo', 'x', first))
    expect([starts, reads]).toEqual([[undefined, undefined, one.runId], 0])
  })

  test('never takes a key of another kind, nor is its own taken by such a request', async () => {
    const { runs, store } = await open({ echo })
    const own = await (await runs.start(request('echo', 'x', keyed()))).result()
    for (const attempt of ['first', 'again'] as const) {
      await expect(runs.start(request('echo', 'x', keyed(attempt)))).rejects.toMatchObject({
        code: 'idempotency_mismatch',
      })
    }
    expect((await store.findClaim('k'))?.run_id).toBe(own.run_id)
    await store.claim({ key: 'at work', hash: 'h', expires_at: '2999-01-01T00:00:00.000Z' })
    const taken = { idempotency: { key: 'at work', hash: 'h', whileRunning: 'join', attempt: 'first' } } as const
    await expect(runs.start(request('echo', 'x', taken))).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    const other = { idempotency: { key: 'made', hash: 'h', whileRunning: 'join', attempt: 'first' } } as const
    await runs.start(request('echo', 'x', other))
    const plain = { idempotency: { ...other.idempotency, attempt: undefined } }
    await expect(runs.start(request('echo', 'x', plain))).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    await expect(
      runs.start(request('echo', 'x', { idempotency: { ...other.idempotency, hash: 'i' } })),
    ).rejects.toMatchObject({ code: 'idempotency_mismatch' })
  })
})

describe('a request that is sent again', () => {
  test('joins the run while it works or waits, and reads it from its beginning', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const { runs } = await open({ slow })
    await runs.start(request('slow', '0', { sessionId: 's' }))
    await begun(0)
    const waiting = await runs.start(request('slow', 'x', { ...first, sessionId: 's' }))
    const [one, two] = await Promise.all(
      [1, 2].map(() => runs.start(request('slow', 'x', { ...again, sessionId: 's' }))),
    )
    expect([one?.runId, two?.runId]).toEqual([waiting.runId, waiting.runId])
    const reading = collect((one as RunHandle).events())
    go(0)
    await begun(1)
    go(1)
    expect(await reading).toEqual(await collect(waiting.events()))
    expect((await runs.list({}, { limit: 10 })).items).toHaveLength(2)
  })

  test('gets the answer for ten minutes, and a new one later', async () => {
    let now = Date.now()
    const { runs } = await open({ echo, asking }, undefined, () => now)
    for (const agent of ['echo', 'asking']) {
      const made = await (await runs.start(request(agent, 'x', first))).result()
      now += tenMinutesMs - 1
      const answered = await runs.start(request(agent, 'x', again))
      expect([answered.runId, answered.replayed]).toEqual([made.run_id, true])
      expect(await answered.result()).toMatchObject({ status: made.status, messages: made.messages })
      now += 1
      const fresh = await runs.start(request(agent, 'x', again))
      expect([fresh.runId === made.run_id, fresh.replayed]).toEqual([false, false])
      expect(await fresh.result()).toMatchObject({ status: made.status })
      expect((await runs.start(request(agent, 'x', again))).runId).toBe(fresh.runId)
    }
  })

  test('joins a run that works for longer than that', async () => {
    let now = Date.now()
    const { runnable: slow, begun, open: go } = gate()
    const { runs } = await open({ slow }, undefined, () => now)
    const made = await runs.start(request('slow', 'x', first))
    await begun(0)
    now += 3 * tenMinutesMs
    const joined = await runs.start(request('slow', 'x', again))
    go(0)
    expect((await joined.result()).run_id).toBe(made.runId)
  })

  test('starts anew after a run that failed or was cancelled, once however many come', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const { runs } = await open({ failing, slow })
    const failed = await (await runs.start(request('failing', 'x', first))).result()
    expect(failed.status).toBe('failed')
    const client = new AbortController()
    const left = await runs.start(request('slow', 'x', { ...keyed('first'), signal: client.signal }))
    await begun(0)
    client.abort()
    // Its end is not recorded yet.
    const handles = await Promise.all([1, 2, 3].map(() => runs.start(request('slow', 'x', again))))
    await begun(1)
    go(1)
    const ids = new Set(handles.map(({ runId }) => runId))
    expect([ids.size, ids.has(left.runId)]).toEqual([1, false])
    expect(handles.filter(({ replayed }) => replayed)).toHaveLength(2)
    expect(await left.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'client_disconnected' })
    for (const handle of handles) expect(await handle.result()).toMatchObject({ status: 'completed' })
  })

  test('starts anew when nothing is known of the first: no key, a deleted session, an erased user', async () => {
    const { runs, sessions, store } = await open({ echo })
    const unknown = await runs.start(request('echo', 'x', again))
    expect(unknown.replayed).toBe(false)
    const { session_id: sessionId } = await unknown.result()
    await sessions.delete(sessionId)
    expect((await store.findClaim('k'))?.run_id).toBe(unknown.runId)
    const fresh = await runs.start(request('echo', 'x', { ...again, userId: 'ann' }))
    expect(fresh.replayed).toBe(false)
    await fresh.result()
    while ((await store.eraseUser('ann', 100)) > 0);
    expect(await store.findClaim('k')).toBeUndefined()
    const last = await runs.start(request('echo', 'x', again))
    expect([last.replayed, (await store.findClaim('k'))?.run_id]).toEqual([false, last.runId])
  })

  test('finds the run that is still being written', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const { runs } = await open({ slow })
    const [one, two] = await Promise.all([
      runs.start(request('slow', 'x', first)),
      runs.start(request('slow', 'x', again)),
    ])
    await begun(0)
    go(0)
    expect(two.runId).toBe(one.runId)
    expect(await two.result()).toMatchObject({ status: 'completed' })
  })

  test('is refused like a first one, and leaves the key where it was', async () => {
    const { runs, store } = await open({ failing, echo })
    const made = await (await runs.start(request('failing', 'x', first))).result()
    const bad = { ...again, sessionId: 'gone', unknownSession: 'refuse' } as const
    await expect(runs.start(request('echo', 'x', bad))).rejects.toMatchObject({ code: 'session_not_found' })
    expect((await store.findClaim('k'))?.run_id).toBe(made.run_id)
    expect(runs.active).toBe(0)
  })

  test('does not repeat a replacement that stands', async () => {
    const { runs } = await open({ echo, failing })
    const { run_id: replaces, session_id: sessionId } = await (await runs.start(request('echo', 'x'))).result()
    const failed = await (await runs.start(request('failing', 'y', { ...first, sessionId, replaces }))).result()
    expect(failed.status).toBe('failed')
    for (const attempt of [first, again]) {
      await expect(runs.start(request('echo', 'y', { ...attempt, sessionId, replaces }))).rejects.toMatchObject({
        code: 'conflict',
        runId: failed.run_id,
      })
    }
  })
})

describe('on two instances', () => {
  let world: TestInstances
  beforeEach(() => {
    world = new TestInstances()
  })
  afterEach(() => world.close())

  test('a first request takes the key over from the other one, and one that is sent again joins', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const [a, b] = await world.pair({ slow })
    const one = await a.runs.start(request('slow', 'x', { ...first, mode: 'background' }))
    await begun(0)
    const joined = await b.runs.start(request('slow', 'x', again))
    expect([joined.runId, joined.replayed]).toEqual([one.runId, true])
    const two = await b.runs.start(request('slow', 'x', { ...first, mode: 'background' }))
    await begun(1)
    const other = await a.runs.start(request('slow', 'x', again))
    expect([other.runId, other.replayed]).toEqual([two.runId, true])
    const results = Promise.all([joined, other].map((handle) => handle.result()))
    go(0)
    go(1)
    expect((await world.until(results)).map(({ run_id, status }) => [run_id, status])).toEqual([
      [one.runId, 'completed'],
      [two.runId, 'completed'],
    ])
  })

  test('one of those that are sent again at once starts anew, and the others join it', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const [a, b] = await world.pair({ slow, failing })
    const made = await world.until(a.runs.start(request('failing', 'x', first)).then((handle) => handle.result()))
    expect(made.status).toBe('failed')
    const handles = await Promise.all([a, b, a, b].map(({ runs }) => runs.start(request('slow', 'x', again))))
    const ids = new Set(handles.map(({ runId }) => runId))
    expect([ids.size, ids.has(made.run_id)]).toEqual([1, false])
    expect(handles.filter(({ replayed }) => replayed)).toHaveLength(3)
    await begun(0)
    const results = Promise.all(handles.map((handle) => handle.result()))
    go(0)
    expect((await world.until(results)).map(({ status }) => status)).toEqual(Array(4).fill('completed'))
  })

  test('it starts anew after the run of an instance that died', async () => {
    const { runnable: slow, begun, open: go } = gate()
    const [a, b] = await world.pair({ slow })
    const one = await a.runs.start(request('slow', 'x', first))
    await begun(0)
    a.isStopped = true
    await world.advance(60_000)
    expect((await b.runs.get(one.runId)).status).toBe('interrupted')
    const fresh = await b.runs.start(request('slow', 'x', again))
    expect([fresh.runId === one.runId, fresh.replayed]).toEqual([false, false])
    await begun(1)
    go(1)
    expect((await world.until(fresh.result())).status).toBe('completed')
  })
})
