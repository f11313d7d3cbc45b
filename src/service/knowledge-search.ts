import type { Filters, SearchHit } from '../core/knowledge.ts'
import type { Collection, CurrentChunk, DocumentStore, Ranking } from '../core/knowledge-drivers.ts'
import { queryWordsOf, trigramsOf } from '../core/terms.ts'
import { stitch } from './knowledge-chunks.ts'
import type { CollectionIndex } from './knowledge-index.ts'
import type { SearchSettings } from './knowledge-input.ts'

const rankConstant = 60
const leastDepth = 50
const maxTrigrams = 20
/** The rarest say most; common ones are asked only while all together occur in few chunks. */
const leastTrigrams = 4
const maxOccurrences = 15_000
/** Less than this of a query's trigrams, by weight, is chance. */
const leastTrigramShare = 0.2
const maxGenerations = 5_000
/** Where the halves of BM25's open scale meet: a chunk that scores so much is worth 0.5. */
const middleOfBm25 = 5

/**
 * Hybrid merges the word, trigram and vector lists by reciprocal rank; its scores are parts of the highest sum there can
 * be. Keyword scores are BM25 squeezed into 0–1, vector scores the cosine.
 */
export async function searchCollection(
  documents: DocumentStore,
  collection: Collection,
  index: (() => Promise<CollectionIndex>) | undefined,
  settings: SearchSettings,
  signal: AbortSignal | undefined,
): Promise<SearchHit[]> {
  const depth = Math.max(leastDepth, settings.limit * 3)
  const words = queryWordsOf(settings.query)
  const byWords = () => documents.keyword(collection.key, words, settings.filters, depth)
  const byTrigrams = () => rankByTrigrams(documents, collection, words, settings.filters, depth)
  const byVector = async () => (index ? rankByVector(documents, await index(), settings, depth, signal) : [])
  const ranking = await rank(settings.mode, byWords, byTrigrams, byVector)
  signal?.throwIfAborted()
  return toHits(documents, collection, ranking, settings)
}

type List = () => Promise<Ranking>

async function rank(mode: SearchSettings['mode'], byWords: List, byTrigrams: List, byVector: List): Promise<Ranking> {
  if (mode === 'vector') return byVector()
  if (mode === 'hybrid') return fuse(await Promise.all([byWords(), byTrigrams(), byVector()]))
  const found = await byWords()
  // A misspelt or partial word matches no word; what shares its letters is better than nothing.
  if (found.length === 0) return byTrigrams()
  return found.map(({ chunk, score }) => ({ chunk, score: score / (score + middleOfBm25) }))
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

async function rankByTrigrams(
  documents: DocumentStore,
  collection: Collection,
  words: readonly string[],
  filters: Filters,
  depth: number,
): Promise<Ranking> {
  const wanted = [...new Set(words.flatMap(trigramsOf))]
  const known = await documents.frequencies(collection.key, [], wanted)
  const weigh = (trigram: string) => Math.log(1 + known.chunks / (1 + (known.trigrams.get(trigram) ?? 0)))
  const weights = wanted.map((trigram): [string, number] => [trigram, weigh(trigram)])
  let occurrences = 0
  const telling = weights
    .filter(([trigram]) => known.trigrams.has(trigram))
    .sort(([, one], [, other]) => other - one)
    .slice(0, maxTrigrams)
    .filter(([trigram], at) => {
      occurrences += known.trigrams.get(trigram) ?? 0
      return at < leastTrigrams || occurrences <= maxOccurrences
    })
  const absent = weights.filter(([trigram]) => !known.trigrams.has(trigram))
  const whole = [...telling, ...absent].reduce((sum, [, weight]) => sum + weight, 0)
  const found = await documents.trigram(collection.key, telling, filters, depth)
  return found
    .map(({ chunk, score }) => ({ chunk, score: score / (whole || 1) }))
    .filter(({ score }) => score >= leastTrigramShare)
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
