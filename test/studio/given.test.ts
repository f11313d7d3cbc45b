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
  // What was said of all that waited is not about a tool of the client.
  [{ output: 'printed', approved: true, input: 'x' }, 'printed'],
  [{ error: 'no printer', approved: true, input: 'x' }, 'failed: no printer'],
])('the answer %j is told as %s', (given, words) => {
  expect(inWords(given)).toBe(words)
})
