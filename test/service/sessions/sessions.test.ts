import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import type { Summarizer } from '../../../src/core/summary.ts'
import { createOnce } from '../../../src/service/idempotency.ts'
import { createSummaries } from '../../../src/service/sessions/summaries.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { echo, gate, openServices, request } from '../../support/services.ts'
import { turns } from '../../support/turns.ts'

async function openWithSummaries(summarizer: Summarizer | undefined, timeoutMs = 5000) {
  const services = await openServices({ echo })
  const options = { store: services.store, clock: Date.now, logger: silentLogger, summarizer, timeoutMs }
  return { ...services, summaries: createSummaries(options), again: () => createSummaries(options) }
}

const counting = () => {
  const calls: number[] = []
  const summarizer: Summarizer = {
    name: 'counting',
    async summarize(messages) {
      calls.push(messages.length)
      await new Promise((resolve) => setImmediate(resolve))
      return `${messages.length} messages`
    },
  }
  return { summarizer, calls }
}

test('creates a session once under an idempotency key', async () => {
  const { sessions } = await openServices({ echo })
  const idempotency = { key: 'k', hash: 'h', whileRunning: 'conflict' } as const
  const first = await sessions.create({ name: 'first' }, idempotency)
  expect(await sessions.create({ name: 'first' }, idempotency)).toEqual(first)
  await expect(sessions.create({ name: 'other' }, { ...idempotency, hash: 'other' })).rejects.toMatchObject({
    code: 'idempotency_mismatch',
  })
  expect((await sessions.list({}, { limit: 10 })).items).toHaveLength(1)
})

test('cancels what runs in a session before deleting it', async () => {
  const { runnable: slow, begun } = gate()
  const { runs, sessions } = await openServices({ slow })
  const running = await runs.start(request('slow', 'x', { sessionId: 'one' }))
  const waiting = await runs.start(request('slow', 'x', { sessionId: 'one' }))
  await begun(0)
  await sessions.delete('one')
  expect(await running.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'session_deleted' })
  expect(await waiting.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'session_deleted' })
  await expect(sessions.delete('one')).rejects.toMatchObject({ code: 'session_not_found' })
})

test('shows the latest interactions with their events', async () => {
  const { runs, sessions } = await openServices({ echo })
  for (const text of ['one', 'two', 'three']) {
    await (await runs.start(request('echo', text, { sessionId: 'one' }))).result()
  }
  const history = await sessions.history('one', 2, true)
  expect(history.has_more).toBe(true)
  expect(history.runs.flatMap((run) => run.messages.map((message) => message.content))).toEqual([
    'two',
    'two',
    'three',
    'three',
  ])
  const types: string[] = []
  for await (const page of history.events?.(history.runs[0]?.run_id ?? '') ?? []) {
    types.push(...page.map((event) => event.type))
  }
  expect(types).toEqual(['run_start', 'text_delta', 'run_end'])
  await expect(sessions.history('gone', 2, false)).rejects.toMatchObject({ code: 'session_not_found' })
})

test('summarises now, or as a job that ends', async () => {
  const { summarizer, calls } = counting()
  const { runs, summaries } = await openWithSummaries(summarizer)
  await (await runs.start(request('echo', 'hello', { sessionId: 'one' }))).result()
  await expect(summaries.get('one')).rejects.toMatchObject({ code: 'summary_not_found' })
  const [first, second] = await Promise.all([summaries.generate('one'), summaries.generate('one')])
  expect(first).toEqual(second)
  expect(calls).toEqual([2])
  expect(await summaries.get('one')).toMatchObject({
    content: '2 messages',
    model: 'counting',
    run_count: 1,
    message_count: 2,
  })
  await (await runs.start(request('echo', 'again', { sessionId: 'one' }))).result()
  await summaries.schedule('one')
  await expect.poll(async () => (await summaries.get('one')).content).toBe('4 messages')
  await summaries.close()
})

test('takes up scheduled summaries after a restart', async () => {
  const { summarizer } = counting()
  const { runs, store, again } = await openWithSummaries(summarizer)
  await (await runs.start(request('echo', 'hello', { sessionId: 'one' }))).result()
  await store.scheduleSummary('one', new Date().toISOString())
  const restarted = again()
  await restarted.recover()
  await expect.poll(async () => (await store.findSummary('one'))?.content).toBe('2 messages')
  expect(await store.listSummaryJobs()).toEqual([])
  await restarted.close()
})

test('summarises a session without messages as nothing', async () => {
  const { summarizer, calls } = counting()
  const { sessions, summaries } = await openWithSummaries(summarizer)
  await sessions.create({ session_id: 'empty' })
  expect(await summaries.generate('empty')).toMatchObject({ content: '', message_count: 0 })
  expect(calls).toEqual([])
})

test('keeps the earlier summary when a job fails or takes too long', async () => {
  let behave: 'well' | 'badly' | 'slowly' = 'well'
  const summarizer: Summarizer = {
    name: 'moody',
    summarize() {
      if (behave === 'badly') return Promise.reject(new Error('secret'))
      return behave === 'slowly' ? new Promise(() => {}) : Promise.resolve('fine')
    },
  }
  const { runs, store, summaries } = await openWithSummaries(summarizer, 20)
  await (await runs.start(request('echo', 'hello', { sessionId: 'one' }))).result()
  await summaries.generate('one')
  behave = 'badly'
  await expect(summaries.generate('one')).rejects.toMatchObject({ code: 'summary_failed' })
  await summaries.schedule('one')
  await expect.poll(() => store.listSummaryJobs()).toEqual([])
  behave = 'slowly'
  await expect(summaries.generate('one')).rejects.toMatchObject({ code: 'timeout' })
  expect(await summaries.get('one')).toMatchObject({ content: 'fine' })
})

test('says that nothing can summarise when nothing is configured', async () => {
  const { sessions, summaries } = await openWithSummaries(undefined)
  await sessions.create({ session_id: 'one' })
  await expect(summaries.generate('one')).rejects.toMatchObject({ code: 'summary_not_configured' })
  await expect(summaries.schedule('one')).rejects.toMatchObject({ code: 'summary_not_configured' })
  await expect(summaries.get('one')).rejects.toMatchObject({ code: 'summary_not_found' })
  await expect(summaries.get('gone')).rejects.toMatchObject({ code: 'session_not_found' })
})

test('does keyed work once, and again after it failed', async () => {
  const { store } = await openServices({})
  const once = createOnce(store, Date.now, silentLogger)
  const idempotency = { key: 'k', hash: 'h', whileRunning: 'conflict' } as const
  let count = 0
  await expect(once(idempotency, () => Promise.reject(new Error('down')))).rejects.toThrow('down')
  const work = Promise.withResolvers<void>()
  const first = once(idempotency, async () => {
    await work.promise
    return { count: ++count }
  })
  await expect(once(idempotency, async () => ({ count: ++count }))).rejects.toMatchObject({ code: 'conflict' })
  work.resolve()
  expect(await first).toEqual({ count: 1 })
  expect(await once(idempotency, async () => ({ count: ++count }))).toEqual({ count: 1 })
  await expect(once({ ...idempotency, hash: 'x' }, async () => 1)).rejects.toMatchObject({
    code: 'idempotency_mismatch',
  })
})

test('frees a key whose work failed while it could not be released, and tells the work its own failure', async () => {
  const inner = memoryStore()
  await inner.open()
  let full = true
  const store: SessionStore = {
    ...inner,
    async releaseClaim(key) {
      if (full) throw new AppError('storage_full', 'The disk is full.')
      await inner.releaseClaim(key)
    },
  }
  const once = createOnce(store, Date.now, silentLogger)
  const idempotency = { key: 'k', hash: 'h', whileRunning: 'conflict' as const }
  const broken = new AppError('unreadable_document', 'No.')
  await expect(once(idempotency, () => Promise.reject(broken))).rejects.toBe(broken)
  full = false
  expect(await once(idempotency, async () => 'done')).toBe('done')
  expect(await once(idempotency, async () => 'again')).toBe('done')
})

test('frees a key that could not be released with the next request that has a key, for other servers', async () => {
  const inner = memoryStore()
  await inner.open()
  let full = true
  const store: SessionStore = {
    ...inner,
    async releaseClaim(key) {
      if (full) throw new AppError('storage_full', 'The disk is full.')
      await inner.releaseClaim(key)
    },
  }
  const once = createOnce(store, Date.now, silentLogger)
  const keyed = (key: string) => ({ key, hash: 'h', whileRunning: 'conflict' as const })
  await expect(once(keyed('left'), () => Promise.reject(new Error('down')))).rejects.toThrow('down')
  expect(await once(keyed('between'), async () => 1)).toBe(1)
  expect(await inner.findClaim('left')).toBeDefined()
  full = false
  expect(await once(keyed('next'), async () => 2)).toBe(2)
  expect(await inner.findClaim('left')).toBeUndefined()
})

test('does not free a key that is at work again by a release that comes late', async () => {
  const inner = memoryStore()
  await inner.open()
  const late = Promise.withResolvers<void>()
  let releases = 0
  const store: SessionStore = {
    ...inner,
    async releaseClaim(key) {
      releases++
      await late.promise
      await inner.releaseClaim(key)
    },
  }
  const once = createOnce(store, Date.now, silentLogger)
  const keyed = (key: string) => ({ key, hash: 'h', whileRunning: 'conflict' as const })
  const failed = once(keyed('k'), () => Promise.reject(new Error('down')))
  failed.catch(() => {})
  await turns(5)
  const other = once(keyed('other'), async () => 'other')
  const working = Promise.withResolvers<void>()
  const again = once(keyed('k'), async () => {
    await working.promise
    return 'again'
  })
  await turns(5)
  late.resolve()
  await expect(failed).rejects.toThrow('down')
  expect(await other).toBe('other')
  await turns(5)
  expect([releases, (await inner.findClaim('k'))?.answer]).toEqual([1, null])
  working.resolve()
  expect(await again).toBe('again')
})
