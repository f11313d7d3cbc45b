import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import type { RunEvent } from '../../../src/core/event.ts'
import type { Json } from '../../../src/core/json.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { collect, openServices, request, runnable } from '../../support/services.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { told } from '../../support/told.ts'

const partial = (data: Json) => ({ type: 'data_delta', data }) as const
const short = (event: RunEvent) => [event.seq, event.type === 'data_delta' ? event.data : event.type]

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(store: SessionStore = memoryStore()) {
  const timers = manualTimers()
  const { runnable: entity, say, end } = told()
  const { runs } = await openServices({ told: entity }, store, 30_000, usualLimits(), timers)
  closers.push(() => store.close())
  const handle = await runs.start(request('told', 'x', { mode: 'background' }))
  const follow = async (after = 0) => {
    const read: RunEvent[] = []
    const batches = (await runs.events(handle.runId, after))[Symbol.asyncIterator]()
    const done = (async () => {
      for (let next = await batches.next(); !next.done; next = await batches.next()) read.push(...next.value)
      return read
    })()
    if (after === 0) await expect.poll(() => read.length).toBeGreaterThan(0)
    return { read, done, leave: () => batches.return?.() }
  }
  return { timers, runs, store, handle, follow, end, say: (data: Json) => say(partial(data)), sayAny: say }
}

test('live readers get the partial data as it grows, at most ten times per second', async () => {
  const { timers, follow, say, sayAny, end } = await open()
  const [one, other] = [await follow(), await follow()]
  for (let n = 0; n < 100; n++) {
    await say({ n })
    timers.advance(10)
  }
  await expect.poll(() => other.read.length).toBe(12)
  await sayAny({ type: 'data', data: { n: 99 } })
  end()
  const shown = [0, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99].map((n) => [1, { n }])
  const expected = [[1, 'run_start'], ...shown, [2, 'data'], [3, 'run_end']]
  expect((await one.done).map(short)).toEqual(expected)
  expect((await other.done).map(short)).toEqual(expected)
})

test('nothing of it is in the replay, the answer, the history or the store', async () => {
  const { timers, runs, store, handle, follow, say, sayAny, end } = await open()
  const { read, done } = await follow()
  await say({ n: 1 })
  await sayAny('text')
  timers.advance(100)
  await say({ n: 2 })
  await expect
    .poll(() => read.map(short))
    .toEqual([
      [1, 'run_start'],
      [1, { n: 1 }],
      [2, 'text_delta'],
      [2, { n: 2 }],
    ])
  end()
  await done
  const run = await handle.result()
  expect(run.messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'text' }])
  const recorded = [
    [1, 'run_start'],
    [2, 'text_delta'],
    [3, 'run_end'],
  ]
  expect((await collect(await runs.events(handle.runId, 0))).map(short)).toEqual(recorded)
  expect((await store.readEvents(handle.runId, 0, 100)).map(short)).toEqual(recorded)
})

test('no file of the SQLite store has any of it', async () => {
  await using folder = await temporaryFolder()
  const { follow, say, sayAny, end, handle, store } = await open(
    sqliteStore({ path: join(folder.path, 'agentserve.db') }),
  )
  const { read } = await follow()
  await say({ word: 'ephemeral' })
  await expect.poll(() => read.length).toBe(2)
  await sayAny({ type: 'data', data: { word: 'lasting' } })
  end()
  await handle.result()
  await store.close()
  closers.length = 0
  const files = await Promise.all(
    (await readdir(folder.path)).map((name) => readFile(join(folder.path, name), 'latin1')),
  )
  expect([files.join().includes('lasting'), files.join().includes('ephemeral')]).toEqual([true, false])
})

test('a reader that comes back right after it misses nothing and gets nothing twice', async () => {
  const { follow, say, sayAny, end } = await open()
  const first = await follow()
  await sayAny('a')
  await say({ n: 1 })
  await expect
    .poll(() => first.read.map(short))
    .toEqual([
      [1, 'run_start'],
      [2, 'text_delta'],
      [2, { n: 1 }],
    ])
  await first.leave()
  const second = await follow(2)
  await expect.poll(() => second.read.map(short)).toEqual([[2, { n: 1 }]])
  await sayAny('b')
  const late = await follow(3)
  end()
  expect((await second.done).map(short)).toEqual([
    [2, { n: 1 }],
    [3, 'text_delta'],
    [4, 'run_end'],
  ])
  expect((await late.done).map(short)).toEqual([[4, 'run_end']])
})

test('a reader that falls behind gets only the newest, and none that an event has followed', async () => {
  const { timers, runs, handle, say, sayAny, end } = await open()
  const batches = (await runs.events(handle.runId, 0))[Symbol.asyncIterator]()
  const next = async () => ((await batches.next()).value as RunEvent[] | undefined)?.map(short)
  expect(await next()).toEqual([[1, 'run_start']])
  for (let n = 0; n < 5; n++) {
    await say({ n })
    timers.advance(100)
  }
  expect(await next()).toEqual([[1, { n: 4 }]])
  await say({ n: 5 })
  await sayAny('a')
  timers.advance(1_000)
  expect(await next()).toEqual([[2, 'text_delta']])
  await say({ n: 6 })
  await say({ n: 7 })
  await sayAny('b')
  timers.advance(1_000)
  expect(await next()).toEqual([[3, 'text_delta']])
  end()
  expect(await next()).toEqual([[4, 'run_end']])
})

test('it waits for the durable start of the run', async () => {
  const durable = Promise.withResolvers<void>()
  const inner = memoryStore()
  const startRun = async (start: never) => {
    const started = await inner.startRun(start)
    await durable.promise
    return started
  }
  const store = new Proxy(inner, {
    get: (target, key, receiver) => (key === 'startRun' ? startRun : Reflect.get(target, key, receiver)),
  })
  // Without effects, so that it begins before its start is durable.
  const { runnable: entity, say, end } = told({ sideEffects: false })
  const { runs } = await openServices({ told: entity }, store)
  const starting = runs.start(request('told', 'x'))
  await say(partial({ n: 1 }))
  durable.resolve()
  const batches = (await starting).events()[Symbol.asyncIterator]()
  expect((await batches.next()).value.map(short)).toEqual([[1, 'run_start']])
  expect((await batches.next()).value.map(short)).toEqual([[1, { n: 1 }]])
  end()
  expect((await batches.next()).value.map(short)).toEqual([[2, 'run_end']])
})

test('a run that is cancelled midway shows nothing after its end, and leaves no timer', async () => {
  const { timers, runs, handle, follow, say } = await open()
  const { read, done } = await follow()
  await say({ n: 1 })
  await say({ n: 2 })
  await expect.poll(() => read.length).toBe(2)
  await runs.cancel(handle.runId)
  void say({ n: 3 })
  await handle.result()
  expect(timers.size).toBe(0)
  expect((await done).map(short)).toEqual([
    [1, 'run_start'],
    [1, { n: 1 }],
    [2, 'run_end'],
  ])
})

test('it counts toward no limit of the run, except that none may exceed the output limit', async () => {
  const usual = usualLimits()
  const bounds = { ...usual, run: { ...usual.run, events: 2, outputBytes: 100 } }
  const entities = {
    many: runnable(async function* () {
      for (let n = 0; n < 50; n++) yield partial({ text: 'x'.repeat(80), n })
      yield { type: 'data', data: { done: true } }
    }),
    large: runnable(async function* () {
      yield partial('é'.repeat(60))
    }),
    giant: runnable(async function* () {
      yield partial('x'.repeat(10 * usual.toolResult.recordBytes))
    }),
  }
  const { runs } = await openServices(entities, memoryStore(), 30_000, bounds)
  const ended = async (id: string) => (await runs.start(request(id, 'x'))).result()
  expect(await ended('many')).toMatchObject({ status: 'completed' })
  for (const id of ['large', 'giant'])
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'run_limit' } })
})

const deep = Array.from({ length: 600 }).reduce<Json>((inside) => [inside], [])
test.each([
  [{ type: 'data_delta' }, 'without `data`'],
  [{ type: 'data_delta', data: undefined }, 'without `data`'],
  [{ type: 'data_delta', data: 1n }, 'not JSON'],
  [{ type: 'data_delta', data: deep }, 'nested deeper'],
])('the invalid partial data %# fails the run', async (emission, words) => {
  const entity = runnable(async function* () {
    yield emission as never
  })
  const { runs } = await openServices({ entity })
  const { status, error } = await (await runs.start(request('entity', 'x'))).result()
  expect([status, error?.code, error?.message.includes(words)]).toEqual(['failed', 'run_failed', true])
})
