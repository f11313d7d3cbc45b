import type { ChunkPlace, Collection, DocumentStore } from '../../core/knowledge/document-store.ts'
import type { Candidate, SearchTrace } from '../../core/knowledge/knowledge.ts'
import { maxSearchWords, tracedCandidates } from '../../core/knowledge/limits.ts'
import { placesIn } from './fuse.ts'
import type { KeyedHit } from './hits.ts'
import type { Found } from './search.ts'

/** Where the best chunks are, without their texts. Reads beside what `toHits` reads. */
export async function findPlaces(documents: DocumentStore, collection: Collection, { ranking }: Found) {
  const best = ranking.slice(0, tracedCandidates).map(({ chunk }) => chunk)
  const places = await documents.places(collection.key, best)
  return new Map(places.map((place) => [place.key, place]))
}

/** All hits, and other places as long as there is room for them. */
export function traceOf(
  collection: Collection,
  found: Found,
  places: ReadonlyMap<number, ChunkPlace>,
  results: readonly KeyedHit[],
): SearchTrace {
  const hits = new Map(results.map(({ key, hit }) => [key, hit]))
  let others = tracedCandidates - hits.size
  const candidates: Candidate[] = []
  for (const [at, { chunk: key, score }] of found.ranking.entries()) {
    const chunk = hits.get(key) ?? (others-- > 0 ? places.get(key) : undefined)
    if (chunk !== undefined) candidates.push(toCandidate(chunk, key, at + 1, Math.max(0, Math.min(1, score)), found))
  }
  return { collection: collection.name, words: found.words.slice(0, maxSearchWords), candidates }
}

function toCandidate(
  { chunk_id, document_id, source, line_start, line_end, page }: Omit<ChunkPlace, 'key'>,
  key: number,
  rank: number,
  score: number,
  { lists }: Found,
): Candidate {
  return {
    chunk_id,
    document_id,
    source,
    rank,
    score,
    lists: placesIn(lists, key),
    ...(line_start === undefined ? {} : { line_start }),
    ...(line_end === undefined ? {} : { line_end }),
    ...(page === undefined ? {} : { page }),
  }
}
