import { expect, it } from 'vitest'
import { abortable, aborted, endsWithin, pause, within } from '../../src/runtime/abort.ts'

const never = new Promise<never>(() => {})

it('tells work that takes too long, and throws the caller the error of the limit', async () => {
  let told: unknown
  const late = new Error('late')
  const work = (signal: AbortSignal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        told = signal.reason
        reject(new Error('of the work'))
      }),
    )
  await expect(within(work, { ms: 1, late: () => late })).rejects.toBe(late)
  expect(told).toBe(late)
})

it('stops waiting with the reason of the signal, also of one that has aborted already', async () => {
  const stop = new AbortController()
  const waiting = abortable(never, stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(within(() => never, { signal: stop.signal })).rejects.toThrow('enough')
  await expect(pause(60_000, stop.signal)).rejects.toThrow('enough')
  await aborted(stop.signal)
})

it('gives the result of work that ends in time, or its error', async () => {
  const { signal } = new AbortController()
  expect(await within(() => 1, { ms: 60_000, signal })).toBe(1)
  const fail = () => {
    throw new Error('at once')
  }
  await expect(within(fail, { ms: 60_000, signal })).rejects.toThrow('at once')
})

it('says whether work ends in time, failed or not', async () => {
  expect(await endsWithin(Promise.reject(new Error('failed')), 60_000)).toBe(true)
  expect(await endsWithin(never, 1)).toBe(false)
})
