import { beginningOf, longestEnding, stemOf } from '../../core/text/stem.ts'

const minBeginning = 2
/** Of words that begin like others. */
export const maxWordsRead = 5_000
const maxInflections = 8

/** Where to look for other forms of words: what they begin with, and their greatest length. */
export function beginningsOf(words: readonly string[]): { beginning: string; length: number }[] {
  return [...new Set(words.map(stemOf))]
    .map((stem) => ({ beginning: beginningOf(stem), length: stem.length + longestEnding }))
    .filter(({ beginning }) => beginning.length >= minBeginning)
}

/** Of the words that were found, those with the same stem, by word. */
export function formsOf(words: readonly string[], found: Iterable<string>): Map<string, string[]> {
  const byStem = Map.groupBy(new Set(found), stemOf)
  const forms = new Map<string, string[]>()
  for (const word of words) {
    const others = (byStem.get(stemOf(word)) ?? []).filter((other) => other !== word).slice(0, maxInflections)
    if (others.length > 0) forms.set(word, others)
  }
  return forms
}
