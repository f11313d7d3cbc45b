import type { TermFrequencies } from '../../core/knowledge/drivers.ts'
import { editDistance } from '../../core/text/edit-distance.ts'

const minFuzzyLength = 4
const maxFuzzyWords = 6
/** Words of more than this part of all chunks tell little and cost much. */
const commonShare = 0.2
const minTelling = 2

/** The words to look for as they are, and those for which words like them are to be looked for too. */
export function chooseWords(words: readonly string[], known: TermFrequencies): { exact: string[]; fuzzy: string[] } {
  const chunksOf = (word: string) => known.words.get(word) ?? 0
  const found = words.filter((word) => chunksOf(word) > 0)
  const telling = found.filter((word) => chunksOf(word) <= known.chunks * commonShare)
  // A word that is found is meant as it is: words like it would only rank above it.
  const fuzzy = words.filter((word) => word.length >= minFuzzyLength && chunksOf(word) === 0)
  return { exact: telling.length >= minTelling ? telling : found, fuzzy: fuzzy.slice(0, maxFuzzyWords) }
}

/** A slip or two of the fingers apart, or one a large part of the other. */
export function isAlike(word: string, other: string): boolean {
  const [short, long] = word.length < other.length ? [word, other] : [other, word]
  if (short.length >= minFuzzyLength && long.includes(short) && short.length * 2 >= long.length) return true
  return editDistance(word, other) <= (word.length < 8 ? 1 : 2)
}
