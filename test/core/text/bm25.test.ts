import { describe, expect, it } from 'vitest'
import { scoreByWords, type WordGroup } from '../../../src/core/text/bm25.ts'

const text = (body: string, headings = '') => ({ body: body.split(' '), headings: headings.split(' ') })
const word = (one: string, texts?: number): WordGroup => ({ words: [one], texts, weight: 1 })
const order = (scores: readonly number[]) =>
  [...scores.keys()].sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0))

describe('the score of a text by its words', () => {
  it('is higher for rare words than for common ones', () => {
    const scores = scoreByWords([text('rare a b'), text('common a b')], [word('rare', 2), word('common', 90)], 100)
    expect(order(scores)).toEqual([0, 1])
    for (const score of scores) expect(score).toBeGreaterThan(0)
  })

  it('grows with repetitions, ever more slowly, and shrinks with length', () => {
    const [once = 0, twice = 0, thrice = 0, long = 0] = scoreByWords(
      [text('a b c d'), text('a a c d'), text('a a a d'), text('a b c d e f g h')],
      [word('a', 4)],
      100,
    )
    expect(twice).toBeGreaterThan(once)
    expect(thrice - twice).toBeLessThan(twice - once)
    expect(long).toBeLessThan(once)
  })

  it('counts a heading more than the text', () => {
    expect(order(scoreByWords([text('a b', 'c d'), text('b c', 'a d')], [word('a', 4)], 100))).toEqual([1, 0])
  })

  it('counts the forms of a word as one, with what the very word adds', () => {
    const forms = { words: ['retry', 'retries'], texts: 5, weight: 1 }
    const [mixed = 0, same = 0] = scoreByWords([text('retry retries'), text('retry retry')], [forms], 100)
    expect(mixed).toBe(same)
    const exact = { words: ['retry'], texts: 3, weight: 0.5 }
    expect(order(scoreByWords([text('retries x'), text('retry x')], [forms, exact], 100))).toEqual([1, 0])
  })

  it('takes the share among the texts for a word that nobody counted', () => {
    const texts = [text('the a'), text('the b'), text('the of')]
    const [the = 0, both = 0] = [0, 2].map((at) => scoreByWords(texts, [word('the'), word('of')], 1_000)[at] ?? 0)
    expect(the).toBeGreaterThan(0)
    expect(both).toBeGreaterThan(the * 2)
  })

  it('is 0 without words, and empty without texts', () => {
    expect(scoreByWords([text('a')], [], 10)).toEqual([0])
    expect(scoreByWords([], [word('a', 1)], 10)).toEqual([])
    expect(scoreByWords([{ body: [], headings: [] }], [word('a', 20)], 10)).toEqual([0])
  })
})
