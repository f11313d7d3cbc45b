import {
  type Collection,
  type DocumentStore,
  type Ranking,
  SearchGivenUp,
} from '../../core/knowledge/document-store.ts'
import type { Embedders, Embedding, Reranker } from '../../core/knowledge/drivers.ts'
import type { SearchResult } from '../../core/knowledge/knowledge.ts'
import { hashedList, keywordList, tokenList } from '../../core/knowledge/lists.ts'
import type { SourceWeights } from '../../core/knowledge/weights.ts'
import { askedTitles } from '../../core/text/asked-titles.ts'
import { meantBy } from '../../core/text/idioms.ts'
import type { KnownWords } from './fit.ts'
import { countedOnce, type Frequencies } from './frequencies.ts'
import { fuse, type RankedList, titledFirst, weighed, withoutUnknown } from './fuse.ts'
import { toHits } from './hits.ts'
import type { SearchSettings } from './input.ts'
import { rerank } from './rerank.ts'
import { respeltWords, similarOnce } from './respelt.ts'
import { findPlaces, traceOf } from './trace.ts'
import { VectorsUnavailable } from './vectors/guard.ts'
import type { CollectionIndex, VectorList } from './vectors/index-document.ts'
import { rankByWords, toShare } from './words.ts'

const minDepth = 50
const maxGenerations = 5_000
/** Each costs an exact comparison of several vectors. */
const spareResults = 10
/** For the vector of a query whose words the database did not count: all of them tell equally much. */
const uncounted = { chunks: 1, words: new Map<string, number>(), trigrams: new Map<string, number>() }

export interface Found {
  ranking: Ranking
  /** The same before a reranker changed it. */
  fused: Ranking
  /** What the ranking was made of, by name: `keyword` and one list per embedder. */
  lists: readonly RankedList[]
  /** These and, if it was reranked, the lists before and after. */
  shown: readonly RankedList[]
  /** The name of the list by the collection's embedder. */
  embedder: string
  words: string[]
  /** What the scores of the chunks were multiplied by. */
  weights: ReadonlyMap<number, number>
  /** How many chunks have each word of the query; unknown when keywords were not searched. */
  known?: KnownWords | undefined
}

export interface SearchDrivers {
  documents: DocumentStore
  embedders: Pick<Embedders, 'problem'>
  weightOf: SourceWeights
  reranker: Reranker | undefined
}

/** Vectors of all chunks by one embedder. */
type VectorIndex = Pick<VectorList, 'table' | 'embedder'>

/**
 * Hybrid fuses the keyword ranking and those of all vectors. Keyword scores are BM25 scaled to 0–1, vector scores the
 * cosine. In both, a passage whose heading is the query comes first. While vectors are unavailable, or their embedder is not
 * installed, hybrid searches without them.
 */
export async function searchCollection(
  { documents, embedders, weightOf, reranker }: SearchDrivers,
  collection: Collection,
  index: (() => Promise<CollectionIndex>) | undefined,
  settings: SearchSettings,
  signal: AbortSignal | undefined,
): Promise<SearchResult> {
  const { mode } = settings
  const depth = Math.max(minDepth, settings.limit * 3)
  const frequencies = countedOnce((words, trigrams) => documents.frequencies(collection.key, words, trigrams))
  const similar = similarOnce(documents, collection)
  const nothing = { words: [], keyword: [], known: undefined }
  let givenUp: SearchGivenUp | undefined
  /** A hybrid search does without words that the database gives up. */
  const byWords = async (): Promise<Pick<Found, 'words' | 'known'> & { keyword: Ranking }> => {
    if (mode === 'vector') return nothing
    try {
      return await rankByWords(documents, collection, settings, depth, { frequencies, similar })
    } catch (error) {
      if (mode !== 'hybrid' || !(error instanceof SearchGivenUp)) throw error
      givenUp = error
      return nothing
    }
  }
  const weighing: Frequencies = async (words, trigrams) => {
    try {
      return await frequencies(words, trigrams)
    } catch (error) {
      if (!(error instanceof SearchGivenUp)) throw error
      return uncounted
    }
  }
  /** A hybrid search does without vectors that can't be read, or that no query can be compared with. */
  const unlessUnavailable = async <T>(work: () => Promise<T>, embedder?: Embedding): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (mode === 'vector' || signal?.aborted) throw error
      const isUnavailable = error instanceof VectorsUnavailable || (embedder && (await embedders.problem(embedder)))
      if (!isUnavailable) throw error
      return undefined
    }
  }
  const byVectors = async () => {
    const opened = index && (await unlessUnavailable(index))
    if (opened === undefined) return []
    const only = await generationsOf(documents, collection, settings)
    const respelt =
      mode === 'hybrid' ? await respeltWords(documents, collection, settings.query, { frequencies, similar }) : []
    const rank = async ([name, vectors]: [string, VectorIndex], at: number): Promise<RankedList> => {
      // The vectors beside the collection's own are one list of three.
      const asked = {
        query: isOfWords(name) ? [settings.query, ...meantBy(settings.query), ...respelt].join(' ') : settings.query,
        only,
        needed: depth,
        frequencies: weighing,
        brief: mode === 'hybrid' && at > 0,
      }
      const search = () => rankByVector(documents, vectors, asked, signal)
      const ranking = await unlessUnavailable(search, vectors.embedder.embedding)
      return { name, ranking: ranking ?? [] }
    }
    return Promise.all(Object.entries(vectorIndexesOf(opened)).map(rank))
  }
  const [{ words, keyword, known }, vectors] = await Promise.all([byWords(), byVectors()])
  signal?.throwIfAborted()
  const skipped = givenUp && [{ list: keywordList, reason: givenUp.message }]
  const byKeyword = mode === 'vector' || skipped ? [] : [{ name: keywordList, ranking: keyword }]
  const lists = [...byKeyword.map((list) => ({ ...list, ranking: toShare(list.ranking) })), ...vectors]
  const fused =
    lists.length === 1
      ? (lists[0]?.ranking ?? [])
      : fuse([...byKeyword, ...withoutUnknown(vectors, known?.words ?? new Map())])
  const places = await findPlaces(documents, collection, fused)
  const weights = new Map([...places].map(([key, { source }]) => [key, weightOf(source)]))
  const { query } = settings
  const titled = mode === 'vector' ? fused : titledFirst(fused, places, askedTitles(query))
  const ranking = weighed(titled, weights)
  const reranked =
    reranker &&
    mode === 'hybrid' &&
    (await rerank(documents, collection, reranker, { query, ranking, weights, signal }))
  const found: Found = {
    ranking: reranked ? reranked.ranking : ranking,
    fused: ranking,
    lists,
    shown: reranked ? [...lists, ...reranked.lists] : lists,
    weights,
    embedder: collection.embedding.provider,
    words,
    known,
  }
  const hits = await toHits(documents, collection, found, settings)
  const results = hits.map(({ hit }) => hit)
  const trace = settings.trace && {
    ...traceOf(collection, found, places, hits, query),
    ...(reranked && { rerank: reranked.reranking }),
  }
  return { results, mode, ...(skipped && { skipped }), ...(trace && { trace }) }
}

/** Models read a question as it is asked. */
function isOfWords(list: string): boolean {
  return list === hashedList || list === tokenList
}

/** The vectors to search, by the name of their list. */
function vectorIndexesOf({ lists }: CollectionIndex): Record<string, VectorIndex> {
  return Object.fromEntries(lists.map((list) => [list.name, list]))
}

/** The documents that the filters leave; undefined without filters. */
async function generationsOf(documents: DocumentStore, collection: Collection, { filters }: SearchSettings) {
  if (Object.keys(filters).length === 0) return undefined
  return new Set(await documents.matching(collection.key, filters))
}

interface AskedVectors {
  query: string
  /** The documents to search; undefined: all. */
  only: ReadonlySet<number> | undefined
  needed: number
  frequencies: Frequencies
  /** Does without rows that no index has yet, if there are many. */
  brief: boolean
}

async function rankByVector(
  documents: DocumentStore,
  { table, embedder }: VectorIndex,
  { query, only, needed, frequencies, brief }: AskedVectors,
  signal: AbortSignal | undefined,
): Promise<Ranking> {
  if (only?.size === 0) return []
  const few = only && only.size <= maxGenerations ? [...only] : undefined
  const vector = await embedder.embedQuery(query, frequencies, signal)
  // Some results may have been replaced or fail the filters: search further until there are enough.
  for (let fetch = only && !few ? needed * 2 : needed + spareResults; ; fetch *= 4) {
    signal?.throwIfAborted()
    const found = await table.search(vector, fetch, few, brief)
    const current = new Set(await documents.stillCurrent([...new Set(found.map((hit) => hit.generation))]))
    const kept = found.filter(
      ({ generation, similarity }) => similarity > 0 && current.has(generation) && (!only || only.has(generation)),
    )
    const exhausted = found.length < fetch || (found.at(-1)?.similarity ?? 0) <= 0
    if (kept.length >= needed || exhausted)
      return kept.slice(0, needed).map(({ chunk, similarity }) => ({ chunk, score: Math.min(1, similarity) }))
  }
}
