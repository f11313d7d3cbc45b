import type { ChunkPlace, Collection, DocumentStore, Ranking } from '../../core/knowledge/document-store.ts'
import type { Candidate, SearchTrace } from '../../core/knowledge/knowledge.ts'
import { maxSearchWords, tracedCandidates } from '../../core/knowledge/limits.ts'
import { usualWeight } from '../../core/knowledge/weights.ts'
import { fitOf } from './fit.ts'
import { placesIn } from './fuse.ts'
import type { KeyedHit } from './hits.ts'
import type { Found } from './search.ts'

/** Where chunks are, without their texts. */
export async function findPlaces(documents: DocumentStore, collection: Collection, ranking: Ranking) {
  const places = await documents.places(
    collection.key,
    ranking.map(({ chunk }) => chunk),
  )
  return new Map(places.map((place) => [place.key, place]))
}

/** All hits, and other places as long as there is room for them. */
export function traceOf(
  collection: Collection,
  found: Found,
  places: ReadonlyMap<number, ChunkPlace>,
  results: readonly KeyedHit[],
  query: string,
): SearchTrace {
  const hits = new Map(results.map(({ key, hit }) => [key, hit]))
  let others = tracedCandidates - hits.size
  const candidates: Candidate[] = []
  for (const [at, { chunk: key, score }] of found.ranking.entries()) {
    const chunk = hits.get(key) ?? (others-- > 0 ? places.get(key) : undefined)
    if (chunk !== undefined) candidates.push(toCandidate(chunk, key, at + 1, Math.max(0, Math.min(1, score)), found))
  }
  const fit = fitOf(
    query,
    results.map(({ hit }) => hit),
    found,
  )
  return { collection: collection.name, words: found.words.slice(0, maxSearchWords), candidates, ...(fit && { fit }) }
}

function toCandidate(
  { chunk_id, document_id, source, line_start, line_end, page }: Omit<ChunkPlace, 'key' | 'headingPath'>,
  key: number,
  rank: number,
  score: number,
  { shown, weights }: Found,
): Candidate {
  const weight = weights.get(key) ?? usualWeight
  return {
    chunk_id,
    document_id,
    source,
    rank,
    score,
    lists: placesIn(shown, key),
    ...(weight === usualWeight ? {} : { weight }),
    ...(line_start === undefined ? {} : { line_start }),
    ...(line_end === undefined ? {} : { line_end }),
    ...(page === undefined ? {} : { page }),
  }
}
