import { expect, test } from 'vitest'
import { sinceWhen } from '../../../src/cli/browse/since-when.ts'

test.each([
  [0, 'now'],
  [59_000, 'now'],
  [60_000, '1 min'],
  [59 * 60_000, '59 min'],
  [60 * 60_000, '1 h'],
  [23 * 3_600_000, '23 h'],
  [24 * 3_600_000, '1 d'],
  [6 * 86_400_000, '6 d'],
  [7 * 86_400_000, '2026-01-03'],
  [-5000, 'now'],
])('%i ms ago is %s', (ms, said) => {
  const now = Date.parse('2026-01-10T00:00:00.000Z')
  expect(sinceWhen(new Date(now - ms).toISOString(), now)).toBe(said)
})
