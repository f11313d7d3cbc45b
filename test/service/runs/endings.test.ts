import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { Emission, Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { collect, echo, gate, openServices, request, runnable } from '../../support/services.ts'
import { turns } from '../../support/turns.ts'

const full = () => new AppError('storage_full', 'The disk is full.')
const locked = () => new AppError('unavailable', 'Another process holds the file.', { retryAfterSeconds: 1 })

/** A store that fails the named calls for as long as `failing` gives an error. */
function failingStore(inner: SessionStore = memoryStore()) {
  const failing: Partial<Record<keyof SessionStore, () => Error | undefined | Promise<Error>>> = {}
  const calls: string[] = []
  const store = new Proxy(inner, {
    get(target, key, receiver) {
      const value = Reflect.get(target, key, receiver)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        calls.push(String(key))
        const error = await failing[key as keyof SessionStore]?.()
        if (error !== undefined) throw error
        return value.apply(target, args)
      }
    },
  })
  return { store, failing, calls }
}

async function openSqlite(): Promise<SessionStore> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-endings-'))
  const store = sqliteStore({ path: join(folder, 'sessions.db') })
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  return store
}

const timers = manualTimers()
const openManually = (entities: Record<string, Runnable>, store?: SessionStore) =>
  openServices(entities, store, undefined, undefined, timers)

const until = (condition: () => boolean | Promise<boolean>) =>
  expect.poll(condition, { timeout: 10_000, interval: 5 }).toBe(true)

/** Until this is so; each time that it is not, a second has passed. */
const untilInTime = (condition: () => boolean | Promise<boolean>) =>
  until(() => {
    timers.advance(1000)
    return condition()
  })

test('fails a run that leaves a state which is no JSON, and keeps the state before it', async () => {
  const broken = runnable(async function* (_input, { state }) {
    Object.assign(state, { count: 1n })
    yield 'said'
  })
  const { runs, store } = await openServices({ broken })
  const run = await (await runs.start(request('broken', 'x', { sessionId: 's', state: { kept: 1 } }))).result()
  expect(run).toMatchObject({ status: 'failed', error: { code: 'run_failed' } })
  expect(run.messages.at(-1)?.content).toBe('said')
  expect((await store.findSession('s'))?.session.state).toEqual({ kept: 1 })
})

test.for(['memory', 'sqlite'])('fails only the run that emits what is no JSON, with %s', async (driver) => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const foreign = [
    { type: 'tool_result', call_id: 'c', name: 't', output: 1n, duration_ms: 1 },
    { type: 'tool_call', call_id: 'c', name: 't', input: circular },
    { type: 'run_end', status: 'completed', usage: null, cache_hit: false },
    { type: 'run_error', error: { code: 'x', message: 'x' } },
    { type: 'something' },
    { type: 'text_delta', text: 5 },
    { type: 'text_delta' },
    undefined,
    42,
  ] as unknown as Emission[]
  const broken = runnable(async function* ({ text }) {
    yield 'said'
    yield foreign[Number(text)] as Emission
    yield 'never'
  })
  const { runs } = await openServices({ broken, echo }, driver === 'memory' ? memoryStore() : await openSqlite())
  const handles = await Promise.all(
    foreign.flatMap((_, index) => [
      runs.start(request('broken', String(index), { mode: 'stream' })),
      runs.start(request('echo', 'fine')),
    ]),
  )
  const records = await Promise.all(handles.map((handle) => handle.result()))
  for (const [index, record] of records.entries()) {
    expect([index, record.status]).toEqual([index, index % 2 === 0 ? 'failed' : 'completed'])
    if (index % 2 === 0) expect(record.messages.at(-1)?.content).toBe('said')
    const events = await collect(await runs.events(record.run_id, 0))
    expect(events.filter((event) => event.type === 'run_end' || event.type === 'run_error')).toHaveLength(1)
  }
})

test('shows an end only when it is durable, and what came out once', async () => {
  const { runnable: slow, begun, open } = gate()
  const { store, failing, calls } = failingStore()
  let isFull = true
  failing.finishRun = () => (isFull ? full() : undefined)
  const { runs } = await openManually({ slow }, store)
  const handle = await runs.start(request('slow', 'x', { mode: 'background' }))
  await begun(0)
  open(0)
  await until(() => calls.includes('finishRun'))
  const shown = await runs.get(handle.runId)
  expect(shown).toMatchObject({ status: 'running', completed_at: null, end_seq: null })
  expect(shown.messages.map((message) => message.content)).toEqual(['x', 'ab'])
  isFull = false
  await untilInTime(async () => (await runs.get(handle.runId)).status === 'completed')
})

test.for([
  ['storage_full', full],
  ['unavailable', locked],
] as const)('tells whose end could not be recorded (%s), and records it when it can', async ([code, error]) => {
  const { store, failing } = failingStore()
  let fails = true
  failing.finishRun = () => (fails ? error() : undefined)
  const { runs } = await openManually({ echo }, store)
  const handle = await runs.start(request('echo', 'hello', { sessionId: 's' }))
  const about = { runId: handle.runId, sessionId: 's' }
  await expect(handle.result()).rejects.toMatchObject({ code, ...about })
  const waiting = await runs.start(request('echo', 'next', { sessionId: 's' }))
  expect(runs.active).toBe(2)
  fails = false
  await untilInTime(() => runs.active === 0)
  expect(await waiting.result()).toMatchObject({ status: 'completed' })
  expect(await store.findRun(handle.runId)).toMatchObject({ status: 'completed' })
  expect((await collect(await runs.events(handle.runId, 0))).at(-1)?.type).toBe('run_end')
})

test('gives up the end of a run whose start was refused', async () => {
  const { store, failing, calls } = failingStore()
  failing.startRun = () => new Promise((resolve) => setImmediate(() => resolve(full())))
  failing.finishRun = full
  const { runs } = await openManually({ echo }, store)
  await expect(runs.start(request('echo', 'hello'))).rejects.toMatchObject({ code: 'storage_full' })
  expect(runs.active).toBe(0)
  // Longer than the pause before another attempt.
  timers.advance(700)
  await turns(20)
  expect(calls.filter((call) => call === 'finishRun').length).toBeLessThanOrEqual(1)
})

test('records the bare failure of a run whose end the store refuses to take', async () => {
  const { store, failing, calls } = failingStore()
  failing.finishRun = () =>
    calls.filter((call) => call === 'finishRun').length === 1 ? new AppError('internal', 'refused') : undefined
  const { runs } = await openServices({ echo }, store)
  const handle = await runs.start(request('echo', 'hello', { sessionId: 's' }))
  expect(await handle.result()).toMatchObject({ status: 'failed', error: { code: 'internal' } })
  expect(await (await runs.start(request('echo', 'again', { sessionId: 's' }))).result()).toMatchObject({
    status: 'completed',
  })
})

test.for(['memory', 'sqlite'])('ends a run whose session is deleted under it as cancelled, with %s', async (driver) => {
  const { runnable: slow, begun, open } = gate()
  const { runs, store } = await openServices({ slow }, driver === 'memory' ? memoryStore() : await openSqlite())
  const handle = await runs.start(request('slow', 'x', { sessionId: 's', mode: 'stream' }))
  await begun(0)
  await store.deleteSession('s')
  open(0)
  expect(await handle.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'session_deleted' })
  expect((await collect(handle.events())).at(-1)).toMatchObject({ type: 'run_end', status: 'cancelled' })
  await until(() => runs.active === 0)
})

test('cancels at once what waits in a session that is deleted', async () => {
  const { runnable: slow, begun } = gate()
  const { runs, sessions } = await openServices({ slow })
  const first = await runs.start(request('slow', '1', { sessionId: 's' }))
  await begun(0)
  const waiting = await runs.start(request('slow', '2', { sessionId: 's' }))
  const background = await runs.start(request('slow', '3', { sessionId: 's', mode: 'background' }))
  await sessions.delete('s')
  for (const handle of [first, waiting, background]) {
    expect(await handle.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'session_deleted' })
    await expect(runs.get(handle.runId)).rejects.toMatchObject({ code: 'run_not_found' })
  }
  expect(runs.active).toBe(0)
})

test.for(['memory', 'sqlite'])('is either cancelled or ended when both come at once, with %s', async (driver) => {
  const { runs, store } = await openServices({ echo }, driver === 'memory' ? memoryStore() : await openSqlite())
  const outcomes = { cancelled: 0, completed: 0 }
  for (let seed = 0; seed < 200; seed++) {
    const handle = await runs.start(request('echo', 'a b c', { mode: seed % 2 === 0 ? 'stream' : 'plain' }))
    for (let turn = 0; turn < (seed * 7) % 23; turn++) await Promise.resolve()
    if (seed % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
    const cancelled = await runs.cancel(handle.runId).then(
      (run) => run.status,
      (error: AppError) => error.code,
    )
    const { status } = await handle.result()
    expect([seed, cancelled]).toEqual([seed, status === 'cancelled' ? 'cancelled' : 'conflict'])
    expect((await store.findRun(handle.runId))?.status).toBe(status)
    outcomes[status as 'cancelled' | 'completed']++
  }
  expect(outcomes.cancelled + outcomes.completed).toBe(200)
})
