import { expect, test } from 'vitest'
import { usualLimits } from '../../../src/config/settings/limits.ts'
import { AppError } from '../../../src/core/error.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { systemTimers } from '../../../src/runtime/timers.ts'
import { createRegistry } from '../../../src/service/registry.ts'
import { createRuns } from '../../../src/service/runs/runs.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { collect, echo, gate, openServices, request, runnable } from '../../support/services.ts'

/** A store whose named call waits for `pass`, and fails with what it is given. */
function heldStore(name: keyof SessionStore, inner: SessionStore = memoryStore()) {
  const held = Promise.withResolvers<Error | undefined>()
  const reached = Promise.withResolvers<void>()
  const store = new Proxy(inner, {
    get(target, key, receiver) {
      const value = Reflect.get(target, key, receiver)
      if (key !== name || typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        reached.resolve()
        const error = await held.promise
        if (error !== undefined) throw error
        return value.apply(target, args)
      }
    },
  })
  return { store, reached: reached.promise, pass: (error?: Error) => held.resolve(error) }
}

test('waits on shutdown for a background run whose turn has just come', async () => {
  const { runnable: slow, begun, open } = gate()
  const { store, reached, pass } = heldStore('beginRun')
  const { runs } = await openServices({ slow }, store)
  const first = await runs.start(request('slow', '1', { sessionId: 's' }))
  await begun(0)
  const second = await runs.start(request('slow', '2', { sessionId: 's', mode: 'background' }))
  open(0)
  await first.result()
  await reached
  const stopped = runs.shutdown(10)
  pass()
  await stopped
  const recorded = await store.findRun(second.runId)
  expect(recorded?.status).not.toBe('running')
  expect(runs.active).toBe(0)
})

test('counts a run as active until its end is recorded', async () => {
  const { store, reached, pass } = heldStore('finishRun')
  const { runs } = await openServices({ echo }, store)
  const handle = await runs.start(request('echo', '1', { sessionId: 's' }))
  await reached
  expect((await store.findRun(handle.runId))?.status).toBe('running')
  expect((await runs.activeIn('s'))?.run_id).toBe(handle.runId)
  pass()
  await handle.result()
  await runs.idle()
  expect(await runs.activeIn('s')).toBeUndefined()
})

test('lets a background run that shutdown finds before its turn stay in the queue', async () => {
  const store = memoryStore()
  const earlier = await openServices({ slow: gate().runnable }, store)
  const slow = await earlier.runs.start(request('slow', '1', { sessionId: 's' }))
  const waiting = await earlier.runs.start(request('slow', '2', { sessionId: 's', mode: 'background' }))
  const { queued } = await store.recover('own_next', new Date().toISOString())
  expect((await store.findRun(slow.runId))?.status).toBe('interrupted')
  const next = await openServices({ slow: gate().runnable }, store)
  await next.runs.shutdown(0)
  next.runs.adopt(queued)
  expect((await store.findRun(waiting.runId))?.status).toBe('queued')
})

test('begins nothing when shutdown came while a claim was looked up', async () => {
  const { runnable: slow, begun, open } = gate()
  const { store, reached, pass } = heldStore('findClaim')
  const { runs } = await openServices({ slow }, store)
  await runs.start(request('slow', '1', { sessionId: 's' }))
  await begun(0)
  const idempotency = { key: 'k', hash: 'h', whileRunning: 'conflict' as const }
  const starting = runs.start(request('slow', '2', { sessionId: 's', strategy: 'interrupt', idempotency }))
  await reached
  const stopped = runs.shutdown(0)
  open(0)
  await stopped
  pass()
  await expect(starting).rejects.toMatchObject({ code: 'unavailable' })
  expect(runs.active).toBe(0)
})

test('fails a waiting run whose begin could not be recorded, and leaves nothing queued', async () => {
  const { runnable: slow, begun, open } = gate()
  const { store, pass } = heldStore('beginRun')
  const { runs } = await openServices({ slow, echo }, store)
  const first = await runs.start(request('slow', '1', { sessionId: 's' }))
  await begun(0)
  const second = await runs.start(request('echo', '2', { sessionId: 's' }))
  pass(new AppError('storage_full', 'The disk is full.'))
  open(0)
  await first.result()
  expect(await second.result()).toMatchObject({ status: 'failed', error: { code: 'storage_full' } })
  expect((await store.findRun(second.runId))?.status).toBe('failed')
  expect(runs.active).toBe(0)
})

test('cancels a waiting run of an entity that is not here, and begins it when it is', async () => {
  const store = memoryStore()
  await store.open()
  const options = {
    store,
    logger: silentLogger,
    clock: Date.now,
    timers: systemTimers,
    requestTimeoutMs: 30_000,
    bounds: usualLimits(),
  }
  const before = createRegistry()
  before.register('gone', gate().runnable)
  before.register('back', echo)
  const earlier = createRuns({ ...options, registry: before, owner: 'own_1' })
  await earlier.start(request('gone', '1', { sessionId: 's' }))
  const one = await earlier.start(request('gone', '2', { sessionId: 's', mode: 'background' }))
  const two = await earlier.start(request('back', '3', { sessionId: 's', mode: 'background' }))
  const registry = createRegistry()
  const runs = createRuns({ ...options, registry, owner: 'own_2' })
  runs.adopt((await store.recover('own_2', new Date().toISOString())).queued)
  expect((await runs.get(one.runId)).status).toBe('queued')
  expect(await runs.cancel(one.runId)).toMatchObject({ status: 'cancelled', cancellation_reason: 'requested' })
  registry.register('back', echo)
  runs.adopt([])
  const events = await collect(await runs.events(two.runId, 0))
  expect(events.at(-1)).toMatchObject({ type: 'run_end', status: 'completed' })
})

test('keeps no timer of a run that was superseded while its place in the queue was recorded', async () => {
  const { runnable: slow, begun } = gate()
  const { runs } = await openServices({ slow, echo })
  await runs.start(request('slow', '1', { sessionId: 's' }))
  await begun(0)
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const [second, third] = await Promise.all([
    runs.start(request('slow', '2', { sessionId: 's' })),
    runs.start(request('echo', '3', { sessionId: 's', strategy: 'interrupt' })),
  ])
  expect(await second.result()).toMatchObject({ cancellation_reason: 'superseded' })
  await third.result()
  expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBeLessThan(before)
})

test('cancels what waits when its client leaves, and lets the next have its turn', async () => {
  const { runnable: slow, begun, open } = gate()
  const { runs, store } = await openServices({ slow, echo })
  const client = new AbortController()
  const first = await runs.start(request('slow', '1', { sessionId: 's' }))
  await begun(0)
  const second = await runs.start(request('slow', '2', { sessionId: 's', signal: client.signal }))
  const third = await runs.start(request('echo', '3', { sessionId: 's' }))
  client.abort()
  expect(await second.result()).toMatchObject({ status: 'cancelled', cancellation_reason: 'client_disconnected' })
  expect((await store.findRun(second.runId))?.started_at).toBeNull()
  open(0)
  expect(await first.result()).toMatchObject({ status: 'completed' })
  expect(await third.result()).toMatchObject({ status: 'completed' })
})

test('accepts a background run when it is durable, and its events can be read at once', async () => {
  const { runnable: slow, begun, open } = gate()
  const { runs, store } = await openServices({ slow })
  const handle = await runs.start(request('slow', '1', { mode: 'background' }))
  expect(await store.findRun(handle.runId)).toMatchObject({ background: true })
  const events = (await runs.events(handle.runId, 0))[Symbol.asyncIterator]()
  expect((await events.next()).value?.[0]).toMatchObject({ type: 'run_start', seq: 1 })
  await begun(0)
  open(0)
  await handle.result()
  await events.return?.()
})

test('lets readers go at once that leave while a run is silent', async () => {
  const silent = runnable((_input, { signal }) => ({
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise<IteratorResult<string>>((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        ),
    }),
  }))
  const { runs } = await openServices({ silent })
  const handle = await runs.start(request('silent', 'x', { mode: 'background' }))
  for (let index = 0; index < 50; index++) {
    const reader = (await runs.events(handle.runId, 1))[Symbol.asyncIterator]()
    const next = reader.next()
    await reader.return?.()
    expect(await next).toMatchObject({ done: true })
  }
  await runs.cancel(handle.runId)
})
