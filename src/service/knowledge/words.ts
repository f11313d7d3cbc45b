import type { Collection, DocumentStore, KeywordQuery, Ranking } from '../../core/knowledge/document-store.ts'
import { maxSearchWords } from '../../core/knowledge/limits.ts'
import type { WordGroup } from '../../core/text/bm25.ts'
import { meantBy } from '../../core/text/idioms.ts'
import { queryWordsOf } from '../../core/text/query-words.ts'
import { stemOf } from '../../core/text/stem.ts'
import { wordsOf } from '../../core/text/terms.ts'
import type { KnownWords } from './fit.ts'
import type { Frequencies } from './frequencies.ts'
import { chooseWords, isAlike } from './fuzzy.ts'
import type { SearchSettings } from './input.ts'
import type { SimilarWords } from './respelt.ts'

/** What the very word counts besides what any of its forms counts. */
const exactWeight = 0.5
/** The BM25 score that becomes 0.5 on the scale of 0 to 1. */
const middleOfBm25 = 5

interface Counted {
  frequencies: Frequencies
  similar: SimilarWords
}

/**
 * Telling words find chunks, in all their inflected forms; all words of the query score them, and the very words more than
 * other forms. A word that is in no text may be misspelt: similar words are searched instead.
 */
export async function rankByWords(
  documents: DocumentStore,
  collection: Collection,
  { query, filters }: SearchSettings,
  depth: number,
  counted: Counted,
): Promise<{ words: string[]; keyword: Ranking; known: KnownWords }> {
  const { find, known, ...scored } = await toKeywordQuery(documents, collection, query, counted)
  const words = find.slice(0, maxSearchWords)
  const found = await documents.keyword(collection.key, { find: words, ...scored }, filters, depth)
  return { words, keyword: found, known }
}

/** BM25 has no highest score: for people, it is shown on the scale of 0 to 1. */
export function toShare(ranking: Ranking): Ranking {
  return ranking.map(({ chunk, score }) => ({ chunk, score: score / (score + middleOfBm25) }))
}

async function toKeywordQuery(
  documents: DocumentStore,
  { key }: Collection,
  query: string,
  { frequencies, similar: similarWords }: Counted,
): Promise<KeywordQuery & { find: string[]; known: KnownWords }> {
  const said = queryWordsOf(query)
  const meant = meantBy(query).filter((word) => !said.includes(word))
  const all = [...said, ...meant].slice(0, maxSearchWords)
  const inflections = await documents.inflections(key, all)
  const formsOf = (word: string) => [word, ...(inflections.get(word) ?? [])]
  const known = await frequencies([...new Set(all.flatMap(formsOf))], [])
  const countOf = (words: readonly string[]) =>
    Math.min(
      known.chunks,
      words.reduce((sum, word) => sum + (known.words.get(word) ?? 0), 0),
    )
  // What is meant counts as far as some text says it so.
  const asked = all.filter((word) => !meant.includes(word) || countOf(formsOf(word)) > 0)
  const { find, fuzzy } = chooseWords(asked, (word) => countOf(formsOf(word)), known.chunks)
  const similar = await Promise.all(
    fuzzy.map(async (word) => (await similarWords(word)).filter((other) => isAlike(word, other))),
  )
  const alike = [...new Set(similar.flat())]
  const counts = alike.length === 0 ? undefined : await frequencies(alike, [])
  const there = asked.filter((word) => countOf(formsOf(word)) > 0)
  const byStem = new Map(there.map((word) => [stemOf(word), word]))
  const unasked = wordsOf(query).filter((word) => !asked.includes(word))
  const score: WordGroup[] = [
    ...[...byStem.values()].map((word) => ({ words: formsOf(word), texts: countOf(formsOf(word)), weight: 1 })),
    ...there.map((word) => ({ words: [word], texts: countOf([word]), weight: exactWeight })),
    ...similar.map((words) => ({
      words,
      texts: words.reduce((sum, word) => sum + (counts?.words.get(word) ?? 0), 0),
      weight: 1,
    })),
    ...[...new Set(unasked)].slice(0, maxSearchWords).map((word) => ({ words: [word], weight: 1 })),
  ]
  const present = [...find.flatMap(formsOf), ...alike].filter(
    (word) => known.words.has(word) || counts?.words.has(word) === true,
  )
  const ofQuery = new Map(asked.map((word) => [word, countOf(formsOf(word))]))
  const { chunks } = known
  return { find: [...new Set(present)], score, chunks, known: { chunks, words: ofQuery } }
}
