import { expect, test } from 'vitest'
import { marksIn, piecesOf, searchWordsOf } from '../../../src/core/text/message-search.ts'

test('pieces end after the last space or line end that they have room for, and are the whole text', () => {
  const word = 'x'.repeat(9_000)
  const text = `${word} ${word}\n${word}${word} ${word}`
  const pieces = [...piecesOf(text)]
  expect(pieces.map((piece) => piece.text).join('')).toBe(text)
  // A word that is longer than a piece is cut, and the last piece is what is left.
  expect(pieces.map((piece) => [piece.at, piece.text.length])).toEqual([
    [0, 9_001],
    [9_001, 9_001],
    [18_002, 16_384],
    [34_386, 10_617],
  ])
})

test('40 MB in one line are cut at once, not looked through again for each piece', () => {
  const text = 'word '.repeat(8_000_000)
  const begun = performance.now()
  expect([...piecesOf(text)].length).toBeGreaterThan(2_000)
  // Looked through again, they take a minute.
  expect(performance.now() - begun).toBeLessThan(5_000)
})

test.each([
  ['cafe', 'A Café, a CAFÉ.', ['Café', 'CAFÉ']],
  ['request', 'maxRequestSize of a request', ['maxRequestSize', 'request']],
  ['open*', 'Opened is not reopened.', ['Opened']],
  ['open', 'Opened is not open.', ['open']],
  ['東京', '😀 大東京都 東', ['大東京都']],
  ['none', 'nothing', []],
])('%s is marked where the server finds it', (query, text, marked) => {
  const marks = marksIn(text, searchWordsOf(query))
  expect(marks.map(({ start, end }) => text.slice(start, end))).toEqual(marked)
})
