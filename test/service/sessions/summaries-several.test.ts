import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import type { Summarizer } from '../../../src/core/summary.ts'
import { createSummaries, type SummaryService } from '../../../src/service/sessions/summaries.ts'
import { TestInstances } from '../../support/instances.ts'
import { echo, request } from '../../support/services.ts'

let world: TestInstances
const services: SummaryService[] = []
beforeEach(() => {
  world = new TestInstances()
})
afterEach(async () => {
  for (const summaries of services.splice(0)) await world.until(summaries.close())
  await world.close()
})

/** One server of several, with its summaries. */
async function add(summarize: Summarizer['summarize']) {
  let summaries: SummaryService | undefined
  const instance = await world.add({ entities: { echo }, onGone: () => summaries?.takeUp() })
  const { store } = instance
  const summarizer = { name: instance.name, summarize }
  summaries = createSummaries({ store, clock: Date.now, logger: silentLogger, summarizer, timeoutMs: 600_000 })
  services.push(summaries)
  return { ...instance, instance, summaries }
}

const never = () => new Promise<string>(() => {})
async function summaryOf(store: SessionStore, sessionId: string): Promise<string | undefined> {
  return (await store.findSummary(sessionId))?.content
}

test('a summary is written once, and by another server when the one that writes it dies', async () => {
  const begun = Promise.withResolvers<void>()
  const a = await add(() => {
    begun.resolve()
    return never()
  })
  let calls = 0
  const b = await add(async () => {
    calls++
    return 'written by b'
  })
  await a.runs.start(request('echo', 'x', { sessionId: 's' })).then((handle) => handle.result())
  await a.summaries.schedule('s')
  await world.until(begun.promise)
  await b.summaries.recover()
  await world.advance(10_000)
  expect(calls).toBe(0)
  a.instance.isStopped = true
  await world.advance(25_000)
  expect(await summaryOf(b.store, 's')).toBe('written by b')
  expect([calls, await b.store.listSummaryJobs()]).toEqual([1, []])
  a.instance.isStopped = false
})

test('a summary that a server was asked for and had not begun is written by another when it leaves', async () => {
  const a = await add(never)
  for (const sessionId of ['one', 'two']) {
    await a.runs.start(request('echo', 'x', { sessionId })).then((handle) => handle.result())
    await a.summaries.schedule(sessionId)
  }
  const b = await add(async () => 'written by b')
  await world.until(a.summaries.close())
  await world.until(a.peers.close())
  await world.advance(1_000)
  expect([await summaryOf(b.store, 'one'), await summaryOf(b.store, 'two')]).toEqual(['written by b', 'written by b'])
})

test('a summary is written when the store is there again that went away meanwhile', async () => {
  let calls = 0
  const a = await add(async () => {
    calls++
    if (calls === 1) a.instance.cut()
    return 'written'
  })
  await world.until(a.runs.start(request('echo', 'x', { sessionId: 's' })).then((handle) => handle.result()))
  await a.summaries.schedule('s')
  await expect.poll(() => calls).toBe(1)
  await world.advance(2_000)
  a.instance.heal()
  await expect.poll(() => summaryOf(a.store, 's'), { timeout: 10_000 }).toBe('written')
  expect([calls, await a.store.listSummaryJobs()]).toEqual([2, []])
})

test('a summary is given up whose summarizer is unavailable, and is not asked for all the time', async () => {
  let calls = 0
  const a = await add(async () => {
    calls++
    throw new AppError('unavailable', 'The model is away.')
  })
  await world.until(a.runs.start(request('echo', 'x', { sessionId: 's' })).then((handle) => handle.result()))
  await a.summaries.schedule('s')
  await expect.poll(() => a.store.listSummaryJobs()).toEqual([])
  expect([calls, await summaryOf(a.store, 's')]).toEqual([1, undefined])
})
