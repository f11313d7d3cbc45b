import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import type { MultitaskStrategy } from '../../../src/service/services.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { LaneModel, type LaneStep } from '../../support/lane-model.ts'

const strategies: MultitaskStrategy[] = ['enqueue', 'reject', 'interrupt']

/** What one caller does, some turns of the event loop after the one before. */
function plan(strategy: MultitaskStrategy | undefined, callers: number) {
  const turns = fc.nat({ max: 6 })
  const start = fc.record({
    kind: fc.constant('start' as const),
    after: turns,
    strategy: strategy === undefined ? fc.constantFrom(...strategies) : fc.constant(strategy),
    turns: fc.nat({ max: 12 }),
    pure: fc.boolean(),
    mode: fc.constantFrom('plain' as const, 'stream' as const, 'background' as const),
  })
  const cancel = fc.record({
    kind: fc.constant('cancel' as const),
    after: turns,
    which: fc.nat({ max: callers - 1 }),
    reason: fc.constantFrom(undefined, 'because'),
  })
  const starts = fc.array(start, { minLength: callers, maxLength: callers })
  const cancels = fc.array(fc.record({ place: fc.nat({ max: callers }), cancel }), { maxLength: callers / 2 })
  return fc.record({ starts, cancels, writes: fc.array(turns, { minLength: 8, maxLength: 8 }) }).map((random) => {
    const steps: LaneStep[] = [...random.starts]
    for (const { place, cancel } of random.cancels) steps.splice(place, 0, cancel)
    return { steps, writes: random.writes }
  })
}

/** Every write takes some turns more, in the order in which they were asked for. */
function slowly(inner: SessionStore, turns: readonly number[]): SessionStore {
  const writes: ReadonlySet<string | symbol> = new Set(['startRun', 'beginRun', 'appendEvents', 'finishRun'])
  let last: Promise<unknown> = Promise.resolve()
  let count = 0
  return new Proxy(inner, {
    get(target, key, receiver) {
      const value = Reflect.get(target, key, receiver)
      if (typeof value !== 'function' || !writes.has(key)) return value
      return (...args: unknown[]) => {
        const wait = turns[count++ % turns.length] ?? 0
        const written = last.then(async () => {
          for (let turn = 0; turn < wait; turn++) await new Promise((resolve) => setImmediate(resolve))
          return value.apply(target, args)
        })
        last = written.catch(() => {})
        return written
      }
    },
  })
}

async function check(store: SessionStore, steps: readonly LaneStep[]): Promise<void> {
  const model = await LaneModel.open(store)
  await model.play(steps)
  await model.settle()
}

test.each([...strategies, undefined])(
  'never interleaves 50 runs of one session, strategy %s',
  {
    timeout: 60_000,
  },
  async (strategy) => {
    const property = fc.asyncProperty(plan(strategy, 50), ({ steps, writes }) =>
      check(slowly(memoryStore(), writes), steps),
    )
    await fc.assert(property, { seed: 20, numRuns: 20, endOnFailure: true })
  },
)

test('never interleaves them in a SQLite file either', { timeout: 60_000 }, async () => {
  const property = fc.asyncProperty(plan(undefined, 50), async ({ steps }) => {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-lanes-'))
    const store = sqliteStore({ path: join(folder, 'sessions.db') })
    try {
      await check(store, steps)
    } finally {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
  await fc.assert(property, { seed: 21, numRuns: 20, endOnFailure: true })
})

test.each(strategies)('bounds what waits when 300 come at once, strategy %s', async (strategy) => {
  const model = await LaneModel.open(slowly(memoryStore(), [3]))
  const start = { kind: 'start', after: 0, strategy, turns: 2, pure: false, mode: 'plain' } as const
  await model.play(Array.from({ length: 300 }, () => start))
  expect(model.longest).toBeLessThanOrEqual(202)
  await model.settle()
})
