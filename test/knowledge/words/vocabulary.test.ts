import { describe, expect, it } from 'vitest'
import { createNumberSet, createVocabulary } from '../../../src/knowledge/words/vocabulary.ts'

const words = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `word${from + at}`)

describe('a vocabulary', () => {
  it('gives each word its own number, in the order in which they come, and the same one again', () => {
    const vocabulary = createVocabulary()
    expect(vocabulary.numbersOf(['anchor', 'chain', 'anchor', 'größe', ''])).toEqual([0, 1, 0, 2, 3])
    const many = vocabulary.numbersOf(words(0, 50_000))
    expect(new Set(many).size).toBe(50_000)
    expect(vocabulary.numbersOf(['chain', 'word49999'])).toEqual([1, many.at(-1)])
    expect(vocabulary.epoch).toBe(0)
  })

  it('forgets all words when there are too many, but never between those of one text', () => {
    const vocabulary = createVocabulary()
    const known = createNumberSet(vocabulary)
    const [first = 0] = vocabulary.numbersOf(words(0, 100_000))
    expect([known.add(first), known.add(first), known.add(70_000), known.add(70_000)]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(vocabulary.epoch).toBe(0)
    const [again = 1] = vocabulary.numbersOf(['harbour'])
    expect([again, vocabulary.epoch, known.add(again), known.add(70_000)]).toEqual([0, 1, true, true])
  })
})
