import { headingWeight } from '../scored.ts'

/** What a word counts in a text, in halves, so that counts of headings are whole numbers too. */
export const partsOfWord = 2
const partsOfHeading = headingWeight * partsOfWord
/** More does not fit into the column, and changes no score. */
const mostParts = 32_767

/** What the words of a chunk count, by key in ascending order, and how many words there are. */
export interface WordCounts {
  keys: Float64Array
  parts: number[]
  length: number
}

export function countWords(words: string, headings: string, keyOf: (word: string) => number): WordCounts {
  const counts = new Map<number, number>()
  let length = 0
  const add = (text: string, parts: number) => {
    for (const word of text.split(' ')) {
      if (word === '') continue
      length++
      const key = keyOf(word)
      counts.set(key, (counts.get(key) ?? 0) + parts)
    }
  }
  add(words, partsOfWord)
  add(headings, partsOfHeading)
  const keys = Float64Array.from(counts.keys()).sort()
  return { keys, parts: Array.from(keys, (key) => Math.min(mostParts, counts.get(key) ?? 0)), length }
}

/**
 * The word in the index, which has those of all collections: a hash of 53 bits. Among a million words, the chance that any two have the
 * same is 1 in 18,000; those two would find each other's chunks.
 */
export function wordKey(collection: number, word: string): number {
  let one = 0xdeadbeef
  let other = 0x41c6ce57
  const text = `${collection}:${word}`
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    one = Math.imul(one ^ code, 0x9e3779b1)
    other = Math.imul(other ^ code, 0x5f356495)
  }
  const low = mixed(one) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35)
  const high = mixed(other) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35)
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0)
}

/** Of a sum of bits, so that each depends on all of them; the multipliers are those of MurmurHash3. */
function mixed(bits: number): number {
  const some = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  return some ^ (some >>> 13)
}

/** A function that remembers the keys of the words that it was asked for. */
export function wordKeys(collection: number): { of: (word: string) => number; words: () => Iterable<string> } {
  const keys = new Map<string, number>()
  return {
    of(word) {
      const known = keys.get(word)
      if (known !== undefined) return known
      const key = wordKey(collection, word)
      keys.set(word, key)
      return key
    },
    words: () => keys.keys(),
  }
}
