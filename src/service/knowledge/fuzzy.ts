import { editDistance } from '../../core/text/edit-distance.ts'

const minFuzzyLength = 4
const maxFuzzyWords = 6
/** Words in more than this share of chunks are common: they say little and cost much. */
const commonShare = 0.2
const minTelling = 2
/** Chunks that the index reads to find the best, at 0.7 µs each; the rarest words find most of them. */
const maxRead = 5_000
/** Several times as many as are scored by all words: what only has commoner words would come after these. */
const enough = 100

/**
 * The words to search for, rarest first, and those for which similar words are searched too. `chunksOf` tells in how many chunks
 * of `total` a word is, in any of its forms.
 */
export function chooseWords(
  words: readonly string[],
  chunksOf: (word: string) => number,
  total: number,
): { find: string[]; fuzzy: string[] } {
  const found = words
    .filter((word) => chunksOf(word) > 0)
    .sort((one, other) => chunksOf(one) - chunksOf(other) || one.localeCompare(other))
  const isTelling = (word: string) => chunksOf(word) <= total * commonShare
  const telling = found.filter(isTelling)
  // A word that occurs is spelt as intended: similar words would only rank above it.
  const fuzzy = words.filter((word) => word.length >= minFuzzyLength && chunksOf(word) === 0)
  const find: string[] = []
  let read = 0
  for (const word of telling.length >= minTelling ? telling : found) {
    const more = read + chunksOf(word)
    const isNeeded = find.length === 0 || (find.length < minTelling && read < enough && isTelling(word))
    if (more > maxRead && !isNeeded) break
    read = more
    find.push(word)
  }
  return { find, fuzzy: fuzzy.slice(0, maxFuzzyWords) }
}

/** At most two typing errors apart, or one a large part of the other. */
export function isAlike(word: string, other: string): boolean {
  const [short, long] = word.length < other.length ? [word, other] : [other, word]
  if (short.length >= minFuzzyLength && long.includes(short) && short.length * 2 >= long.length) return true
  return editDistance(word, other) <= (word.length < 8 ? 1 : 2)
}
