import type { TermFrequencies } from '../../core/knowledge/drivers.ts'

export type Frequencies = (words: readonly string[], trigrams: readonly string[]) => Promise<TermFrequencies>

/**
 * For one search, whose parts ask for the same words side by side: each is counted once. Words and trigrams are counted apart:
 * who needs words alone does not fail by trigrams that take too long.
 */
export function countedOnce(count: Frequencies): Frequencies {
  const asked = {
    words: new Map<string, Promise<TermFrequencies>>(),
    trigrams: new Map<string, Promise<TermFrequencies>>(),
  }
  return async (words, trigrams) => {
    const newWords = words.filter((word) => !asked.words.has(word))
    const newTrigrams = trigrams.filter((trigram) => !asked.trigrams.has(trigram))
    const all: Promise<TermFrequencies>[] = []
    if (newWords.length > 0 || words.length + trigrams.length === 0) {
      const counting = count(newWords, [])
      all.push(counting)
      for (const word of newWords) asked.words.set(word, counting)
    }
    if (newTrigrams.length > 0) {
      const counting = count([], newTrigrams)
      all.push(counting)
      for (const trigram of newTrigrams) asked.trigrams.set(trigram, counting)
    }
    const counts = await Promise.all([
      ...all,
      ...words.map((word) => asked.words.get(word)),
      ...trigrams.map((trigram) => asked.trigrams.get(trigram)),
    ])
    const found = [...new Set(counts)].filter((each) => each !== undefined)
    const countsOf = (terms: readonly string[], kind: 'words' | 'trigrams') =>
      new Map(
        terms.flatMap((term) => {
          const held = found.find((each) => each[kind].has(term))?.[kind].get(term)
          return held === undefined ? [] : [[term, held] as const]
        }),
      )
    return {
      chunks: found[0]?.chunks ?? 0,
      words: countsOf(words, 'words'),
      trigrams: countsOf(trigrams, 'trigrams'),
    }
  }
}
