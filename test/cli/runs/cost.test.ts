import { expect, it } from 'vitest'
import { formatCost } from '../../../src/cli/runs/cost.ts'

it.each([
  [{ usd: 0.004125, as_of: '2026-09-23' }, '$0.0041'],
  [{ usd: 0.99996, as_of: null }, '$1.0000'],
  [{ usd: 12.345, as_of: null }, '$12.35'],
  [{ usd: 0.00002, as_of: null }, '<$0.0001'],
  [{ usd: 0, as_of: null }, '$0.0000'],
  [{ usd: 0, as_of: null, local: true as const }, 'local'],
  [null, '–'],
  [undefined, '–'],
])('shows %j as %s', (cost, shown) => {
  expect(formatCost(cost)).toBe(shown)
})
