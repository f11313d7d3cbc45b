import * as fc from 'fast-check'
import { test } from 'vitest'
import type { MultitaskStrategy } from '../../../src/service/services.ts'
import { SharedLaneModel, type SharedStep } from '../../support/shared-lane-model.ts'

const strategies: MultitaskStrategy[] = ['enqueue', 'enqueue', 'reject', 'interrupt']

/** What happens to instances of which each may be any of the first hundred. */
function plan(more: fc.Arbitrary<SharedStep>[]) {
  const common = { at: fc.nat({ max: 100 }), afterMs: fc.constantFrom(0, 0, 0, 10, 50, 300) }
  const start = fc.record({
    ...common,
    kind: fc.constant('start' as const),
    strategy: fc.constantFrom(...strategies),
    turns: fc.nat({ max: 12 }),
    pure: fc.boolean(),
  })
  const cancel = fc.record({ ...common, kind: fc.constant('cancel' as const), which: fc.nat({ max: 30 }) })
  const hints = fc.record({ ...common, kind: fc.constantFrom('deafen' as const, 'hear' as const, 'wake' as const) })
  const steps = fc.array(fc.oneof({ weight: 8, arbitrary: start }, { weight: 2, arbitrary: cancel }, hints, ...more), {
    minLength: 10,
    maxLength: 40,
  })
  return fc.record({
    steps,
    latencies: fc.array(fc.nat({ max: 6 }), { minLength: 8, maxLength: 8 }),
    count: fc.constantFrom(2, 3),
  })
}

const check = (more: fc.Arbitrary<SharedStep>[]) =>
  fc.asyncProperty(plan(more), ({ steps, latencies, count }) => new SharedLaneModel(latencies).play(count, steps))

test('never interleaves the runs of one session on several instances', { timeout: 60_000 }, async () => {
  await fc.assert(check([]), { seed: 30, numRuns: 300, endOnFailure: true })
})

test('never does so while instances leave, and stand still until they are taken for dead', {
  timeout: 60_000,
}, async () => {
  const gone = fc.record({
    at: fc.nat({ max: 100 }),
    afterMs: fc.constantFrom(0, 10, 300),
    kind: fc.constantFrom('leave' as const, 'stop' as const),
  })
  await fc.assert(check([gone]), { seed: 31, numRuns: 30, endOnFailure: true })
})
