import { headingWeight } from '../scored.ts'
import { toStored } from './stored-text.ts'

/** What a word counts in a text, in halves, so that counts of headings are whole numbers too. */
export const partsOfWord = 2
const partsOfHeading = headingWeight * partsOfWord

/** The words of a chunk with what they count, and how many there are. */
export function countWords(words: string, headings: string): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>()
  let length = 0
  const add = (text: string, parts: number) => {
    for (const word of text.split(' ')) {
      if (word === '') continue
      length++
      counts.set(word, (counts.get(word) ?? 0) + parts)
    }
  }
  add(words, partsOfWord)
  add(headings, partsOfHeading)
  return { counts, length }
}

/** The word in the index, which has those of all collections. */
export function wordKey(collection: number, word: string): string {
  return `${collection.toString(36)}:${toStored(word)}`
}
