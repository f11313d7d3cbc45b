import type { JsonObject } from '../json.ts'
import type { Fit, SearchMode, SkippedList } from './knowledge.ts'

/* What a run records of a search. */

/** A passage that a search found. Records of earlier versions have the first three fields only. */
export interface RetrievalHit {
  chunk_id: string
  source: string
  /** 0 to 1, higher is better. */
  score: number
  document_id?: string
  /** From 1, in the order of the search. */
  rank?: number
  /** Its place in each list that the search put together, by the list's name: `keyword`, `lexical`, an embedder's. */
  lists?: Record<string, { rank: number; score: number }>
  /** What its document's or source's weight did to the score, when it has one. */
  weight?: number
  line_start?: number
  line_end?: number
  page?: number
  /** Whether the model was given it. */
  told?: boolean
}

/** How a cross-encoder ordered the best passages: their places are in the lists `fused`, before it, and `rerank`. */
export interface Reranking {
  model: string
  /** How many it was given. */
  candidates: number
  duration_ms: number
  /** Why their order was left as it was. */
  skipped?: string
}

/** A search of the knowledge base by the agent or a tool. */
export interface Retrieval {
  type: 'retrieval'
  query: string
  results: RetrievalHit[]
  collection?: string
  mode?: SearchMode
  limit?: number
  filters?: JsonObject
  /** The words that the keyword search looked for. */
  words?: string[]
  duration_ms?: number
  /** How well the passages fit the whole query. */
  fit?: Fit
  rerank?: Reranking
  /** Lists that a hybrid search had to do without. */
  skipped?: SkippedList[]
  /** Why the agent says nothing from the knowledge base although the search found something. */
  abstained?: { reason: string; score: number; threshold: number }
}
