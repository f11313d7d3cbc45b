import type { TermFrequencies } from '../../core/knowledge/drivers.ts'
import { editDistance } from '../../core/text/edit-distance.ts'

const minFuzzyLength = 4
const maxFuzzyWords = 6
/** Words in more than this share of chunks are common: they say little and cost much. */
const commonShare = 0.2
const minTelling = 2

/** The words to search for, and those for which similar words are searched too. */
export function chooseWords(words: readonly string[], known: TermFrequencies): { exact: string[]; fuzzy: string[] } {
  const chunksOf = (word: string) => known.words.get(word) ?? 0
  const found = words.filter((word) => chunksOf(word) > 0)
  const telling = found.filter((word) => chunksOf(word) <= known.chunks * commonShare)
  // A word that occurs is spelt as intended: similar words would only rank above it.
  const fuzzy = words.filter((word) => word.length >= minFuzzyLength && chunksOf(word) === 0)
  return { exact: telling.length >= minTelling ? telling : found, fuzzy: fuzzy.slice(0, maxFuzzyWords) }
}

/** At most two typing errors apart, or one a large part of the other. */
export function isAlike(word: string, other: string): boolean {
  const [short, long] = word.length < other.length ? [word, other] : [other, word]
  if (short.length >= minFuzzyLength && long.includes(short) && short.length * 2 >= long.length) return true
  return editDistance(word, other) <= (word.length < 8 ? 1 : 2)
}
