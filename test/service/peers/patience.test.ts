import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { TestInstances } from '../../support/instances.ts'
import { request, runnable } from '../../support/services.ts'

let world: TestInstances
beforeEach(() => {
  world = new TestInstances()
})
afterEach(() => world.close())

test('a run waits for a store that is away with what it reads, and does not fail', async () => {
  const cut = Promise.withResolvers<void>()
  const reading = runnable(async function* ({ text, parts }, { history, summary, files }) {
    yield 'begun. '
    if (text === 'second') await cut.promise
    const file = parts.find((part) => part.type === 'file')
    const bytes = file?.type === 'file' ? await files.read(file) : []
    yield `${(await history()).length} messages, ${(await summary()) === undefined ? 'no' : 'a'} summary, ${bytes.length} bytes`
  })
  const [a] = await world.pair({ reading })
  const session = { sessionId: 'shared' }
  await world.until((await a.runs.start(request('reading', 'first', session))).result())
  const parts = [
    { type: 'text', text: 'second' },
    { type: 'file', media_type: 'text/plain', data: 'aGVsbG8=' },
  ]
  const handle = await world.until(a.runs.start(request('reading', 'second', { ...session, parts } as never)))
  a.cut()
  cut.resolve()
  const ended = handle.result()
  await world.advance(12_000)
  a.heal()
  expect(await world.until(ended)).toMatchObject({ status: 'completed', error: null })
  expect((await a.runs.get(handle.runId)).messages[1]?.content).toBe('begun. 2 messages, no summary, 5 bytes')
})

test('a run that waits for what it reads can be cancelled', async () => {
  const cut = Promise.withResolvers<void>()
  const reading = runnable(async function* (_input, { history }) {
    yield 'begun. '
    await cut.promise
    yield `${(await history()).length} messages`
  })
  const [a] = await world.pair({ reading })
  const handle = await world.until(a.runs.start(request('reading', 'x', { mode: 'background' })))
  await world.advance(200)
  a.cut()
  cut.resolve()
  await world.advance(2_000)
  // Who asked is told that it is not recorded yet.
  const cancelling = a.runs.cancel(handle.runId).catch((error: unknown) => error)
  await world.advance(1_000)
  expect(await cancelling).toMatchObject({ code: 'unavailable' })
  a.heal()
  await world.advance(5_000)
  expect(await a.runs.get(handle.runId)).toMatchObject({ status: 'cancelled' })
})

test('events that can not be recorded are tried again twice per second, and that is told once', async () => {
  const full = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  let attempts = 0
  const a = await world.add({
    entities: {
      step: runnable(async function* (_input, { recorded }) {
        for (let n = 0; n < 3; n++) {
          yield 'x'.repeat(2_000)
          await recorded()
        }
      }),
    },
    store: (store) => ({
      ...store,
      async appendEvents(batch) {
        attempts++
        if (world.nowMs < full.from || world.nowMs >= full.to) return store.appendEvents(batch)
        throw new AppError('storage_full', 'The disk is full.')
      },
    }),
  })
  full.from = 0
  full.to = world.nowMs + 5_000
  const handle = await world.until(a.runs.start(request('step', 'x', { mode: 'background' })))
  const run = await world.until(handle.result())
  expect([run.status, run.messages[1]?.content.length]).toEqual(['completed', 6_000])
  expect(attempts).toBeLessThan(20)
  expect(a.told.filter((line) => line.includes('could not be recorded'))).toHaveLength(1)
})
