import { describe, expect, it } from 'vitest'
import { countWords, wordKey, wordKeys } from '../../../src/store/documents/postgres/word-counts.ts'

describe('the words of a chunk in Postgres', () => {
  it('have different keys, in each collection', () => {
    const words = Array.from({ length: 100_000 }, (_, at) => `w${at.toString(36)}`)
    const keys = [1, 2, 12].flatMap((collection) => words.map((word) => wordKey(collection, word)))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.every((key) => Number.isSafeInteger(key) && key >= 0)).toBe(true)
    expect(Math.max(...keys.slice(0, 1_000))).toBeGreaterThan(2 ** 52)
  })

  it('are counted in halves, in the order of their keys', () => {
    const keys = wordKeys(1)
    const counted = countWords('red green red', 'red blue', keys.of)
    const parts = new Map([...counted.keys].map((key, at) => [key, counted.parts[at]]))
    expect(['red', 'green', 'blue'].map((word) => parts.get(wordKey(1, word)))).toEqual([7, 2, 3])
    expect([...counted.keys]).toEqual([...counted.keys].sort((one, other) => one - other))
    expect(counted.length).toBe(5)
    expect([...keys.words()]).toEqual(['red', 'green', 'blue'])
  })

  it('count no more than the column holds', () => {
    expect(countWords('a '.repeat(20_000), '', (word) => wordKey(1, word)).parts).toEqual([32_767])
  })
})
