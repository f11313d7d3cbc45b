import type { SearchHit } from '../core/knowledge.ts'
import type { Collection, CurrentChunk, DocumentStore, Ranking } from '../core/knowledge-drivers.ts'
import { queryWordsOf } from '../core/terms.ts'
import { stitch } from './knowledge-chunks.ts'
import type { CollectionIndex } from './knowledge-index.ts'
import type { SearchSettings } from './knowledge-input.ts'

const rankConstant = 60
const leastDepth = 50
/** A word that occurs in at most so many chunks may be a misspelling, of others or of the asker. */
const rareChunks = 1
const leastFuzzyLength = 4
const maxFuzzyWords = 6
const similarWords = 12
const maxGenerations = 5_000
/** Where the halves of BM25's open scale meet: a chunk that scores so much is worth 0.5. */
const middleOfBm25 = 5

/**
 * Hybrid merges the word and vector lists by reciprocal rank; its scores are parts of the highest sum there can be. Keyword scores are BM25 squeezed into 0–1, vector scores the cosine.
 */
export async function searchCollection(
  documents: DocumentStore,
  collection: Collection,
  index: (() => Promise<CollectionIndex>) | undefined,
  settings: SearchSettings,
  signal: AbortSignal | undefined,
): Promise<SearchHit[]> {
  const depth = Math.max(leastDepth, settings.limit * 3)
  const byWords = () => rankByWords(documents, collection, settings, depth)
  const byVector = async () => (index ? rankByVector(documents, await index(), settings, depth, signal) : [])
  const ranking = await rank(settings.mode, byWords, byVector)
  signal?.throwIfAborted()
  return toHits(documents, collection, ranking, settings)
}

type List = () => Promise<Ranking>

async function rank(mode: SearchSettings['mode'], byWords: List, byVector: List): Promise<Ranking> {
  if (mode === 'vector') return byVector()
  if (mode === 'hybrid') return fuse(await Promise.all([byWords(), byVector()]))
  return (await byWords()).map(({ chunk, score }) => ({ chunk, score: score / (score + middleOfBm25) }))
}

/** Reciprocal rank fusion: 1 for what is first in every list. */
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

/** BM25. A word that is in no text, or nearly none, may be misspelt: words like it are looked for too. */
async function rankByWords(
  documents: DocumentStore,
  collection: Collection,
  { query, filters }: SearchSettings,
  depth: number,
): Promise<Ranking> {
  const words = queryWordsOf(query)
  const known = await documents.frequencies(collection.key, words, [])
  const rare = words.filter((word) => word.length >= leastFuzzyLength && (known.words.get(word) ?? 0) <= rareChunks)
  const alike = await Promise.all(
    rare.slice(0, maxFuzzyWords).map(async (word) => {
      const similar = await documents.similarWords(collection.key, word, similarWords)
      return similar.filter((other) => isAlike(word, other))
    }),
  )
  return documents.keyword(collection.key, [...new Set([...words, ...alike.flat()])], filters, depth)
}

/** A slip or two of the fingers apart, or one a part of the other. */
function isAlike(word: string, other: string): boolean {
  const [short, long] = word.length < other.length ? [word, other] : [other, word]
  if (short.length >= 4 && long.includes(short) && short.length * 2 >= long.length) return true
  return editDistance(word, other) <= (word.length < 8 ? 1 : 2)
}

/** Insertions, deletions, replacements and swaps of neighbours that make one of the other. */
function editDistance(one: string, other: string): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1]
      let least = Math.min((last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (same ? 0 : 1))
      if (one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1])
        least = Math.min(least, (before[at - 2] ?? 0) + 1)
      next.push(least)
    }
    before = last
    last = next
  }
  return last[other.length] ?? 0
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
  // Some of what is found may have been replaced or not pass the filters: look further until there is enough.
  for (let fetch = needed * 2; ; fetch *= 4) {
    signal?.throwIfAborted()
    const found = await table.search(vector, fetch, few)
    const current = new Map(
      (
        await documents.current(
          collection.key,
          found.map((hit) => hit.chunk),
        )
      ).map((chunk) => [chunk.key, chunk]),
    )
    const kept = found.filter(({ chunk, similarity }) => {
      const held = current.get(chunk)
      return similarity > 0 && held !== undefined && (!only || only.has(held.generation))
    })
    const exhausted = found.length < fetch || (found.at(-1)?.similarity ?? 0) <= 0
    if (kept.length >= needed || exhausted)
      return kept.slice(0, needed).map(({ chunk, similarity }) => ({ chunk, score: Math.min(1, similarity) }))
  }
}

async function toHits(
  documents: DocumentStore,
  collection: Collection,
  ranking: Ranking,
  settings: SearchSettings,
): Promise<SearchHit[]> {
  const best = ranking.slice(0, settings.limit)
  const chunks = await documents.current(
    collection.key,
    best.map((hit) => hit.chunk),
  )
  const byKey = new Map(chunks.map((chunk) => [chunk.key, chunk]))
  const hits: SearchHit[] = []
  for (const { chunk: key, score } of best) {
    const chunk = byKey.get(key)
    if (chunk) hits.push(await toHit(documents, chunk, Math.max(0, Math.min(1, score)), settings.context))
  }
  return hits
}

async function toHit(
  documents: DocumentStore,
  chunk: CurrentChunk,
  score: number,
  context: number,
): Promise<SearchHit> {
  const pieces =
    context === 0 ? [] : await documents.range(chunk.generation, chunk.index - context, chunk.index + context)
  const stretch = stitch(pieces) ?? chunk
  return {
    chunk_id: chunk.id,
    document_id: chunk.documentId,
    content: stretch.content,
    score,
    source: chunk.source,
    metadata: {
      ...(chunk.headingPath.length === 0 ? {} : { heading_path: chunk.headingPath }),
      ...chunk.metadata,
    },
    chunk_index: chunk.index,
    chunk_size: chunk.chunkSize,
    chunk_overlap: chunk.chunkOverlap,
    chunker_type: chunk.chunkerType,
    start_offset: stretch.startOffset,
    end_offset: stretch.endOffset,
    line_start: stretch.lineStart,
    line_end: stretch.lineEnd,
  }
}
