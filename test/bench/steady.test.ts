import { expect, test } from 'vitest'
import { isSteady, median } from '../../bench/against/steady.ts'

test('rounds are steady when the last three differ by at most three per cent', () => {
  expect(isSteady([9, 1, 1.03, 1.01])).toBe(true)
  expect(isSteady([1, 1.031, 1.01])).toBe(false)
  expect(isSteady([1, 1, 1, 1.2])).toBe(false)
})

test('two rounds are not enough to be steady', () => {
  expect([isSteady([]), isSteady([1, 1])]).toEqual([false, false])
})

test('the median does not depend on the order, nor on one round that a garbage collection hit', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([2, 29.9, 2.1, 1.9, 2])).toBe(2)
})
