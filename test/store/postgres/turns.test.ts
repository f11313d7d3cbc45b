import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { classify, toStoreError } from '../../../src/store/postgres/failure.ts'
import { Turns } from '../../../src/store/postgres/turns.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const told = (work: Promise<unknown>) => {
  const seen: { value?: unknown; error?: unknown } = {}
  work.then(
    (value) => Object.assign(seen, { value }),
    (error) => Object.assign(seen, { error }),
  )
  return seen
}
const never = () => new Promise<never>(() => undefined)

test('all turns come in the order of their callers, with so many at a time', async () => {
  const turns = new Turns(2, () => 0)
  const log: string[] = []
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const all = gates.map((gate, n) =>
    turns.take(async () => {
      log.push(`begin ${n}`)
      await gate.promise
      if (n === 1) throw new Error('broken')
    }),
  )
  const ended = Promise.allSettled(all)
  await vi.advanceTimersByTimeAsync(0)
  expect(log).toEqual(['begin 0', 'begin 1'])
  gates[1]?.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(log).toEqual(['begin 0', 'begin 1', 'begin 2'])
  for (const gate of gates) gate.resolve()
  expect((await ended).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(log.at(-1)).toBe('begin 3')
  expect(vi.getTimerCount()).toBe(0)
})

test('a database from which nothing is heard is away for who waits, after five seconds', async () => {
  const turns = new Turns(1, () => 0)
  void turns.take(never)
  await vi.advanceTimersByTimeAsync(60_000)
  const waiting = told(turns.take(async () => 'begun'))
  await vi.advanceTimersByTimeAsync(4_999)
  expect(waiting).toEqual({})
  await vi.advanceTimersByTimeAsync(1)
  expect(classify(waiting.error)).toBe('away')
  expect(toStoreError(waiting.error)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
})

test('who waits longer than five seconds while the database answers gets a connection', async () => {
  let heardAt = 0
  const turns = new Turns(1, () => heardAt)
  const gate = Promise.withResolvers<void>()
  void turns.take(() => gate.promise)
  const waiting = told(turns.take(async () => 'begun'))
  for (let second = 1; second < 20; second++) {
    heardAt = performance.now()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(waiting).toEqual({})
  gate.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(waiting).toEqual({ value: 'begun' })
  expect(vi.getTimerCount()).toBe(0)
})

test('connections that are at work for twenty seconds are told apart from a database that is away', async () => {
  const turns = new Turns(1, () => performance.now())
  const gate = Promise.withResolvers<void>()
  void turns.take(() => gate.promise)
  const waiting = told(turns.take(async () => 'begun'))
  await vi.advanceTimersByTimeAsync(19_999)
  expect(waiting).toEqual({})
  await vi.advanceTimersByTimeAsync(1)
  expect(toStoreError(waiting.error)).toMatchObject({
    code: 'unavailable',
    message: 'All connections to the database are at work. Retry in some seconds.',
    retryAfterSeconds: 5,
  })
  // It takes no turn of others.
  const next = told(turns.take(async () => 'next'))
  gate.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect([next, waiting.value]).toEqual([{ value: 'next' }, undefined])
})
