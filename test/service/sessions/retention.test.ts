import { afterEach, expect, test, vi } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { createRetention } from '../../../src/service/sessions/retention.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { startServer } from '../../support/server.ts'
import { gate, openServices, request } from '../../support/services.ts'

afterEach(() => {
  vi.useRealTimers()
})

const hour = 3_600_000

async function fill(store: SessionStore, count: number, createdAt = new Date().toISOString()): Promise<void> {
  for (let n = 0; n < count; n++) {
    const owners = { agent_id: null, team_id: null, workflow_id: null, user_id: null }
    const seed = { session_id: `s${n}`, ...owners, name: null, metadata: null, state: null, created_at: createdAt }
    await store.createSession(seed)
  }
}

async function count(store: SessionStore): Promise<number> {
  return (await store.listSessions({}, { limit: 10_000, cursor: undefined })).items.length
}

test('deletes everything that is due, at most 50 sessions at once', async () => {
  const inner = memoryStore()
  const limits: number[] = []
  const store: SessionStore = { ...inner, prune: (rule, limit) => inner.prune(rule, limits.push(limit) && limit) }
  await fill(store, 250)
  const retention = createRetention({
    store,
    clock: Date.now,
    logger: silentLogger,
    maxAgeMs: undefined,
    maxSessions: 30,
  })
  expect(await retention.prune()).toBe(220)
  expect(limits).toEqual([50, 50, 50, 50, 50, 50])
  expect(await count(store)).toBe(30)
  await retention.close()
})

test('never deletes a session in which something runs, and deletes it once that has ended', async () => {
  const { runnable, begun, open } = gate()
  const { store, runs } = await openServices({ gate: runnable })
  const handle = await runs.start(request('gate', 'x', { sessionId: 'live' }))
  await begun(0)
  const clock = () => Date.now() + hour
  const retention = createRetention({ store, clock, logger: silentLogger, maxAgeMs: 60_000, maxSessions: undefined })
  expect(await retention.prune()).toBe(0)
  open(0)
  expect((await handle.result()).status).toBe('completed')
  expect(await retention.prune()).toBe(1)
  await retention.close()
})

test('looks at once and every minute, goes on after a failure, and leaves no timer', async () => {
  vi.useFakeTimers()
  let looks = 0
  const store: SessionStore = {
    ...memoryStore(),
    prune: async () => {
      looks++
      if (looks === 2) throw new Error('no')
      return 0
    },
  }
  const retention = createRetention({
    store,
    clock: Date.now,
    logger: silentLogger,
    maxAgeMs: hour,
    maxSessions: undefined,
  })
  retention.start()
  retention.start()
  for (let minute = 0; minute < 3; minute++) await vi.advanceTimersByTimeAsync(60_000)
  expect(looks).toBe(4)
  await retention.close()
  expect(vi.getTimerCount()).toBe(0)
  await vi.advanceTimersByTimeAsync(hour)
  expect(looks).toBe(4)
})

test('deletes only tries when nothing is limited, a week after they ended', async () => {
  vi.useFakeTimers()
  const asked: string[] = []
  const store: SessionStore = {
    ...memoryStore(),
    prune: () => Promise.reject(new Error('asked')),
    deleteTries: async (before) => (asked.push(before) < 3 ? 2 : 0),
  }
  const retention = createRetention({
    store,
    clock: () => Date.UTC(2030, 0, 8),
    logger: silentLogger,
    maxAgeMs: undefined,
    maxSessions: undefined,
  })
  retention.start()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asked).toEqual(Array(3).fill('2030-01-01T00:00:00.000Z'))
  await retention.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('is what the server does with its configuration', async () => {
  const store = memoryStore()
  await fill(store, 5, '2020-01-01T00:00:00.000Z')
  const server = await startServer({ sessionStorage: store, retention: { maxAge: '1h', maxSessions: 3 } })
  try {
    while ((await count(store)) > 0) await new Promise((resolve) => setImmediate(resolve))
    const made = await server.call('POST', '/api/v1/agents/echo/run', { input: 'kept' })
    expect((await server.call('GET', `/api/v1/sessions/${made.json.session_id}`)).status).toBe(200)
  } finally {
    await server.close()
  }
})

test.each([
  ['warn', new AppError('unavailable', 'The database is away.')],
  ['error', new AppError('storage_full', 'The disk is full.')],
] as const)('what stops it is told as %s, by whether it passes by itself', async (level, failure) => {
  const told = Promise.withResolvers<string>()
  const logger = { ...silentLogger, warn: () => told.resolve('warn'), error: () => told.resolve('error') }
  const store: SessionStore = { ...memoryStore(), prune: () => Promise.reject(failure) }
  const retention = createRetention({ store, clock: Date.now, logger, maxAgeMs: hour, maxSessions: undefined })
  retention.start()
  expect(await told.promise).toBe(level)
  await retention.close()
})
