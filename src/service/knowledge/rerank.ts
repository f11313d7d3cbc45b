import { AppError, isAppError } from '../../core/error.ts'
import type { Collection, DocumentStore, Ranking } from '../../core/knowledge/document-store.ts'
import type { Reranker } from '../../core/knowledge/drivers.ts'
import type { Reranking } from '../../core/knowledge/retrieval.ts'
import { textToEmbed } from '../../core/knowledge/text-to-embed.ts'
import { within } from '../../runtime/abort.ts'
import { type RankedList, weighed } from './fuse.ts'

/** The names of the lists before and after, as traces show them. */
const before = 'fused'
const after = 'rerank'

export interface Reranked {
  ranking: Ranking
  lists: RankedList[]
  reranking: Reranking
}

interface RerankQuery {
  query: string
  ranking: Ranking
  /** What the scores are multiplied by, as those of the ranking were. */
  weights: ReadonlyMap<number, number>
  signal: AbortSignal | undefined
}

/**
 * The best of a ranking in the order of a cross-encoder's scores, the others behind them. A model that can't be run or is too
 * slow changes nothing: `reranking` says why.
 */
export async function rerank(
  documents: DocumentStore,
  collection: Collection,
  reranker: Reranker,
  { query, ranking, weights, signal }: RerankQuery,
): Promise<Reranked> {
  const startedAt = performance.now()
  const first = ranking.slice(0, reranker.candidates).map(({ chunk }) => chunk)
  const chunks = await documents.current(collection.key, first)
  const reranking = (more: Partial<Reranking>): Reranking => ({
    model: reranker.model,
    candidates: chunks.length,
    duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
    ...more,
  })
  const ms = reranker.timeoutMs
  const late = () => new AppError('timeout', `The reranker took longer than ${ms / 1000} s.`)
  if (chunks.length === 0) return { ranking, lists: [], reranking: reranking({}) }
  try {
    const scores = await within((until) => reranker.score(query, chunks.map(textToEmbed), until), { ms, late, signal })
    const places = new Map(first.map((chunk, at) => [chunk, at]))
    const placeOf = (chunk: number) => places.get(chunk) ?? 0
    const scored = chunks
      .map(({ key: chunk }, at) => ({ chunk, score: scores[at] ?? 0 }))
      .sort((one, other) => other.score - one.score || placeOf(one.chunk) - placeOf(other.chunk))
    const best = weighed(scored, weights)
    const lowest = best.at(-1)?.score ?? 0
    const there = new Set(scored.map(({ chunk }) => chunk))
    const others = ranking
      .filter(({ chunk }) => !there.has(chunk))
      .map(({ chunk, score }) => ({ chunk, score: Math.min(score, lowest) }))
    const lists = [
      { name: before, ranking },
      { name: after, ranking: scored },
    ]
    return { ranking: [...best, ...others], lists, reranking: reranking({}) }
  } catch (error) {
    signal?.throwIfAborted()
    if (!isAppError(error)) throw error
    return { ranking, lists: [], reranking: reranking({ skipped: error.message }) }
  }
}
