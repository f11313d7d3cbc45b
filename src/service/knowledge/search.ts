import type { Collection, DocumentStore, Ranking } from '../../core/knowledge/document-store.ts'
import type { SearchResult } from '../../core/knowledge/knowledge.ts'
import { queryWordsOf } from '../../core/text/terms.ts'
import { chooseWords, isAlike } from './fuzzy.ts'
import { toHits } from './hits.ts'
import type { CollectionIndex } from './index-document.ts'
import type { SearchSettings } from './input.ts'
import { findPlaces, traceOf } from './trace.ts'
import { VectorsUnavailable } from './vector-guard.ts'

const rankConstant = 60
const minDepth = 50
const maxGenerations = 5_000
const similarWords = 12
/** The BM25 score that becomes 0.5 on the scale of 0 to 1. */
const middleOfBm25 = 5

export interface Found {
  ranking: Ranking
  keyword: Ranking
  vector: Ranking
  /** The name of the vector list. */
  embedder: string
  words: string[]
}

/**
 * Hybrid merges the keyword and vector rankings by reciprocal rank; its scores are relative to the maximum sum. Keyword
 * scores are BM25 scaled to 0–1, vector scores the cosine. While the vectors are unavailable, hybrid is keyword search.
 */
export async function searchCollection(
  documents: DocumentStore,
  collection: Collection,
  index: (() => Promise<CollectionIndex>) | undefined,
  settings: SearchSettings,
  signal: AbortSignal | undefined,
): Promise<SearchResult> {
  const { mode } = settings
  const depth = Math.max(minDepth, settings.limit * 3)
  const byWords = async () =>
    mode === 'vector' ? { words: [], keyword: [] } : rankByWords(documents, collection, settings, depth)
  const byVector = async () => {
    try {
      return index ? await rankByVector(documents, await index(), settings, depth, signal) : []
    } catch (error) {
      if (mode === 'vector' || !(error instanceof VectorsUnavailable)) throw error
      return []
    }
  }
  const [{ words, keyword }, vector] = await Promise.all([byWords(), byVector()])
  signal?.throwIfAborted()
  const ranking = mode === 'vector' ? vector : mode === 'keyword' ? keyword : fuse([keyword, vector])
  const embedder = collection.embedding.provider
  const found = { ranking, keyword, vector, embedder, words }
  const [hits, places] = await Promise.all([
    toHits(documents, collection, found, settings),
    settings.trace ? findPlaces(documents, collection, found) : undefined,
  ])
  const results = hits.map(({ hit }) => hit)
  return { results, mode, ...(places && { trace: traceOf(collection, found, places, hits) }) }
}

/** Reciprocal rank fusion; 1: first in every ranking. */
export function fuse(lists: readonly Ranking[]): Ranking {
  const scores = new Map<number, number>()
  for (const list of lists) {
    for (const [at, { chunk }] of list.entries())
      scores.set(chunk, (scores.get(chunk) ?? 0) + 1 / (rankConstant + at + 1))
  }
  const highest = lists.length / (rankConstant + 1)
  return [...scores]
    .map(([chunk, score]) => ({ chunk, score: score / highest }))
    .sort((one, other) => other.score - one.score || one.chunk - other.chunk)
}

/** A word that is in no text may be misspelt: similar words are searched instead. */
async function rankByWords(
  documents: DocumentStore,
  collection: Collection,
  { query, filters }: SearchSettings,
  depth: number,
): Promise<{ words: string[]; keyword: Ranking }> {
  const asked = queryWordsOf(query)
  const { exact, fuzzy } = chooseWords(asked, await documents.frequencies(collection.key, asked, []))
  const alike = await Promise.all(
    fuzzy.map(async (word) => {
      const similar = await documents.similarWords(collection.key, word, similarWords)
      return similar.filter((other) => isAlike(word, other))
    }),
  )
  const words = [...new Set([...exact, ...alike.flat()])]
  const found = await documents.keyword(collection.key, words, filters, depth)
  return { words, keyword: found.map(({ chunk, score }) => ({ chunk, score: score / (score + middleOfBm25) })) }
}

async function rankByVector(
  documents: DocumentStore,
  { collection, table, embedder }: CollectionIndex,
  settings: SearchSettings,
  needed: number,
  signal: AbortSignal | undefined,
): Promise<Ranking> {
  const filtered = Object.keys(settings.filters).length > 0
  const only = filtered ? new Set(await documents.matching(collection.key, settings.filters)) : undefined
  if (only?.size === 0) return []
  const few = only && only.size <= maxGenerations ? [...only] : undefined
  const vector = await embedder.embedQuery(
    settings.query,
    (words, trigrams) => documents.frequencies(collection.key, words, trigrams),
    signal,
  )
  // Some results may have been replaced or fail the filters: search further until there are enough.
  for (let fetch = needed * 2; ; fetch *= 4) {
    signal?.throwIfAborted()
    const found = await table.search(vector, fetch, few)
    const current = new Set(await documents.stillCurrent([...new Set(found.map((hit) => hit.generation))]))
    const kept = found.filter(
      ({ generation, similarity }) => similarity > 0 && current.has(generation) && (!only || only.has(generation)),
    )
    const exhausted = found.length < fetch || (found.at(-1)?.similarity ?? 0) <= 0
    if (kept.length >= needed || exhausted)
      return kept.slice(0, needed).map(({ chunk, similarity }) => ({ chunk, score: Math.min(1, similarity) }))
  }
}
