import type { Ranking } from '../../core/knowledge/document-store.ts'
import { scoreByWords, type WordGroup } from '../../core/text/bm25.ts'
import { wordsOf } from '../../core/text/terms.ts'

/** What the score of a word in a heading is, of one in the text. */
export const headingWeight = 1.5
/** Of the texts that are scored by all words. */
export const maxScoredBytes = 400_000

export interface FoundText {
  chunk: number
  content: string
  /** JSON */
  headingPath: string
}

/** The texts of the best that were found, ordered by the score of all words; what was not read of the found follows. */
export function scoredByAll(
  found: Ranking,
  texts: readonly FoundText[],
  score: readonly WordGroup[],
  total: number,
): Ranking {
  const words = texts.map(({ content, headingPath }) => ({
    body: wordsOf(content),
    headings: wordsOf((JSON.parse(headingPath) as string[]).join(' ')),
  }))
  const scores = scoreByWords(words, score, total)
  const ranking = texts
    .map(({ chunk }, at) => ({ chunk, score: scores[at] ?? 0 }))
    .sort((one, other) => other.score - one.score || one.chunk - other.chunk)
  const lowest = ranking.at(-1)?.score ?? 0
  const rest = found.slice(texts.length).map(({ chunk, score: own }) => ({ chunk, score: Math.min(own, lowest) }))
  return [...ranking, ...rest]
}
