import { describe, expect, it } from 'vitest'
import { createNumberSet, createVocabulary } from '../../../src/knowledge/words/vocabulary.ts'

const words = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `word${from + at}`)

describe('a vocabulary', () => {
  it('gives each word its own number, in the order in which they come, and the same one again', () => {
    const vocabulary = createVocabulary()
    const numbers = ['anchor', 'chain', 'anchor', 'größe', ''].map(vocabulary.numberOf)
    expect(numbers).toEqual([0, 1, 0, 2, 3])
    const many = words(0, 50_000).map(vocabulary.numberOf)
    expect(new Set(many).size).toBe(50_000)
    expect(['chain', 'word49999'].map(vocabulary.numberOf)).toEqual([1, many.at(-1)])
    expect([1, 2].map(vocabulary.wordOf)).toEqual(['chain', 'größe'])
    expect([vocabulary.epoch, vocabulary.isFull()]).toEqual([0, false])
  })

  it('is full when there are too many words or too long ones, and then forgets all of them', () => {
    const vocabulary = createVocabulary()
    const known = createNumberSet(vocabulary)
    const [first = 0] = words(0, 140_000).map(vocabulary.numberOf)
    const added = [known.add(first), known.add(first), known.add(70_000), known.add(70_000)]
    expect(added).toEqual([true, false, true, false])
    expect([vocabulary.epoch, vocabulary.isFull()]).toEqual([0, true])
    vocabulary.forget()
    const again = vocabulary.numberOf('harbour')
    expect([again, vocabulary.epoch, vocabulary.isFull(), known.add(again)]).toEqual([0, 1, false, true])
    vocabulary.numberOf('x'.repeat(1 << 20))
    expect(vocabulary.isFull()).toBe(true)
  })
})
