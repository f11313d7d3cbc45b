import { expect, test } from 'vitest'
import { outliveHostile } from '../support/hostile-server.ts'

test('5,000 hostile requests are each answered in the one shape, and the server is as it was', {
  timeout: 240_000,
}, async () => {
  const seed = Date.now() % 1_000_000
  const { grownMb, requests, ...outcome } = await outliveHostile(5_000, seed)
  expect(outcome, `seed ${seed}`).toEqual({ wrong: [], readiness: 200, exitCode: 0, failures: [] })
  expect(requests).toBeGreaterThanOrEqual(5_000)
  expect(grownMb, `seed ${seed}`).toBeLessThan(50)
})
