import { describe, expect, test, vi } from 'vitest'
import { AppError } from '../../src/core/error.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { RunRecord } from '../../src/core/run.ts'
import type { HttpRequest } from '../../src/http/request.ts'
import { continuesAlone, Leaving } from '../../src/protocols/leaving.ts'
import { createBookmarks } from '../../src/service/bookmarks.ts'
import type { RunHandle, Runs } from '../../src/service/services.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'
import { manualTimers } from '../support/manual-timers.ts'

/** Instances that share a store; `cancel` ends the run. */
async function instances(count: number) {
  const store = memoryStore()
  await store.open()
  const run = Promise.withResolvers<RunRecord>()
  const cancel = vi.fn<Runs['cancel']>(async () => {
    run.resolve({} as RunRecord)
    return {} as RunRecord
  })
  const error = vi.fn()
  const services = {
    runs: { cancel } as unknown as Runs,
    bookmarks: createBookmarks(store, Date.now),
    logger: { ...silentLogger, error },
  }
  const all = Array.from({ length: count }, () => {
    const timers = manualTimers()
    const leaving = new Leaving(timers)
    async function read(replayed: boolean) {
      const controller = new AbortController()
      const handle = { runId: 'run_1', replayed, result: () => run.promise } as unknown as RunHandle
      const request = { headers: {}, signal: controller.signal } as unknown as HttpRequest
      await leaving.follow(services, request, handle)
      return controller
    }
    return { timers, leaving, read }
  })
  return { all, cancel, error, end: () => run.resolve({} as RunRecord), services }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('the last reader leaves', () => {
  test('cancels the run 2 s later, and not before', async () => {
    const { all, cancel } = await instances(1)
    const { timers, read, leaving } = all[0] as (typeof all)[number]
    const client = await read(false)
    client.abort()
    timers.advance(1999)
    await settled()
    expect(cancel).not.toHaveBeenCalled()
    timers.advance(1)
    await expect.poll(() => cancel.mock.calls).toEqual([['run_1', 'client_disconnected']])
    expect([timers.size, leaving.size]).toEqual([0, 0])
  })

  test('cancels nothing when another one reads, or comes within that time', async () => {
    const { all, cancel } = await instances(1)
    const { timers, read } = all[0] as (typeof all)[number]
    const first = await read(false)
    const second = await read(true)
    first.abort()
    expect(timers.size).toBe(0)
    second.abort()
    timers.advance(1500)
    const third = await read(true)
    timers.advance(5000)
    await settled()
    expect(cancel).not.toHaveBeenCalled()
    third.abort()
    timers.advance(2000)
    await expect.poll(() => cancel.mock.calls.length).toBe(1)
  })

  test('clears its timer when the run ends by itself', async () => {
    const { all, cancel, end } = await instances(1)
    const { timers, read, leaving } = all[0] as (typeof all)[number]
    const client = await read(false)
    client.abort()
    expect(timers.size).toBe(1)
    end()
    await expect.poll(() => [timers.size, leaving.size]).toEqual([0, 0])
    const late = await read(true)
    await settled()
    late.abort()
    expect([timers.size, leaving.size, cancel.mock.calls.length]).toEqual([0, 0, 0])
  })

  test('says in the log why a run could not be cancelled, but not that it has ended', async () => {
    for (const [code, logged] of [
      ['conflict', 0],
      ['run_not_found', 0],
      ['unavailable', 1],
    ] as const) {
      const { all, cancel, error } = await instances(1)
      const { timers, read, leaving } = all[0] as (typeof all)[number]
      cancel.mockRejectedValueOnce(new AppError(code, 'No.'))
      const client = await read(false)
      client.abort()
      timers.advance(2000)
      await expect.poll(() => [cancel.mock.calls.length, leaving.size]).toEqual([1, 0])
      await settled()
      expect(error).toHaveBeenCalledTimes(logged)
    }
  })
})

describe('a client that comes again to another instance', () => {
  test('keeps the run, and its leaving cancels it', async () => {
    const { all, cancel } = await instances(2)
    const [one, other] = all as [(typeof all)[number], (typeof all)[number]]
    const first = await one.read(false)
    first.abort()
    const again = await other.read(true)
    one.timers.advance(2000)
    await expect.poll(() => one.leaving.size).toBe(0)
    expect(cancel).not.toHaveBeenCalled()
    again.abort()
    other.timers.advance(2000)
    await expect.poll(() => cancel.mock.calls.length).toBe(1)
  })

  test('and then back to the first one', async () => {
    const { all, cancel } = await instances(2)
    const [one, other] = all as [(typeof all)[number], (typeof all)[number]]
    const first = await one.read(false)
    first.abort()
    const second = await other.read(true)
    second.abort()
    const third = await one.read(true)
    one.timers.advance(2000)
    other.timers.advance(2000)
    await expect.poll(() => other.leaving.size).toBe(0)
    expect(cancel).not.toHaveBeenCalled()
    third.abort()
    one.timers.advance(2000)
    await expect.poll(() => cancel.mock.calls.length).toBe(1)
  })
})

test('X-On-Disconnect is cancel or continue', () => {
  expect(continuesAlone({ headers: {} })).toBe(false)
  expect(continuesAlone({ headers: { 'x-on-disconnect': 'cancel' } })).toBe(false)
  expect(continuesAlone({ headers: { 'x-on-disconnect': 'continue' } })).toBe(true)
  expect(() => continuesAlone({ headers: { 'x-on-disconnect': 'yes' } })).toThrow('X-On-Disconnect')
})
