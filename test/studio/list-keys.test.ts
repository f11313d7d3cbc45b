import { expect, test } from 'vitest'
import { placeAfter } from '../../src/studio/parts/layout/list-keys.ts'

test.each([
  ['j', 0, 1],
  ['ArrowDown', 99, 99],
  ['k', 0, 0],
  ['PageDown', 5, 15],
  ['PageUp', 5, 0],
  ['End', 5, 99],
  ['Home', 5, 0],
  ['x', 5, undefined],
  ['constructor', 5, undefined],
])('%s in row %i of 100 leads to %s', (key, place, next) => {
  expect(placeAfter(key, place, 100)).toBe(next)
})
