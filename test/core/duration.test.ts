import { expect, it } from 'vitest'
import { parseDuration } from '../../src/core/duration.ts'

it.each([
  [0, 0],
  [250, 250],
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['2h', 7_200_000],
  ['30d', 2_592_000_000],
])('reads %j as %d milliseconds', (value, expected) => {
  expect(parseDuration(value)).toBe(expected)
})

it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '', '30', '-1s', '1w', 's', null, undefined, {}])(
  'reads %j as no duration',
  (value) => {
    expect(parseDuration(value)).toBeUndefined()
  },
)
