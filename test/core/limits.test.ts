import { expect, test } from 'vitest'
import { isLonger, shownBytes } from '../../src/core/limits.ts'

test.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1 KB'],
  [1_572_864, '1.5 MB'],
  [3 * 1024 ** 3, '3 GB'],
])('%d bytes are shown as %s', (bytes, text) => {
  expect(shownBytes(bytes)).toBe(text)
})

test.each([
  ['abc', 3, false],
  ['abc', 2, true],
  ['é', 2, false],
  ['é', 1, true],
  ['€€', 5, true],
  ['€€', 6, false],
  ['😀', 3, true],
])('counts bytes of UTF-8: %s beside %d', (text, bytes, longer) => {
  expect(isLonger(text, bytes)).toBe(longer)
})
