import type { TermFrequencies } from '../../core/knowledge/drivers.ts'

export type Frequencies = (words: readonly string[], trigrams: readonly string[]) => Promise<TermFrequencies>

/** For one search, whose parts ask for the same words side by side: each is counted once. */
export function countedOnce(count: Frequencies): Frequencies {
  const asked = {
    words: new Map<string, Promise<TermFrequencies>>(),
    trigrams: new Map<string, Promise<TermFrequencies>>(),
  }
  return async (words, trigrams) => {
    const newWords = words.filter((word) => !asked.words.has(word))
    const newTrigrams = trigrams.filter((trigram) => !asked.trigrams.has(trigram))
    const isAsked = newWords.length + newTrigrams.length === 0 && words.length + trigrams.length > 0
    const all = isAsked ? [] : [count(newWords, newTrigrams)]
    for (const counting of all) {
      for (const word of newWords) asked.words.set(word, counting)
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
