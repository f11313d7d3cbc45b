import { expect, test } from 'vitest'
import { inWords } from '../../src/studio/conversation/given.ts'

test.each([
  [{ approved: true }, 'allowed'],
  [{ approved: false, reason: 'too much' }, 'refused: too much'],
  [{ error: 'no printer' }, 'failed: no printer'],
  [{ input: 'Ann' }, 'Ann'],
  [{ input: 0 }, '0'],
  [{ input: false }, 'false'],
  [{ output: { seats: 3 } }, 'answered'],
  [{ input: null }, 'answered'],
])('the answer %j is told as %s', (given, words) => {
  expect(inWords(given)).toBe(words)
})
