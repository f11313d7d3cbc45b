import { expect, test } from 'vitest'
import { jsonSize } from '../../src/runtime/json-size.ts'

test('is about the length of the JSON, whatever the value is made of', () => {
  const text = 'word '.repeat(10_000)
  const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a longer key ${index}`, true]))
  for (const value of [text, [text, { text }], keys, { parts: [{ type: 'data', data: keys }] }]) {
    const { length } = JSON.stringify(value)
    expect(jsonSize(value, Number.POSITIVE_INFINITY)).toBeGreaterThan(length / 2)
    expect(jsonSize(value, Number.POSITIVE_INFINITY)).toBeLessThan(length * 2)
  }
  expect([jsonSize(null, 100), jsonSize(undefined, 100)]).toEqual([0, 0])
})

test('looks no further than it is asked to, however long or deep the value is', () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index)
  expect(jsonSize(numbers, 1_000)).toBeLessThan(1_010)
  let deep: unknown = 'end'
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(jsonSize(deep, 1_000)).toBeLessThan(1_010)
  const round: unknown[] = []
  round.push(round)
  expect(jsonSize(round, 1_000)).toBeLessThan(1_010)
})
