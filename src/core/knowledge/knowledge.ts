import type { JsonObject } from '../json.ts'
import type { Page, PageRequest } from '../page.ts'
import type { FileContent } from './drivers.ts'
import type { Filters } from './filter.ts'
import type { SourceStatus } from './remote-source.ts'
import type { Reranking } from './retrieval.ts'

export const searchModes = ['hybrid', 'vector', 'keyword'] as const
export type SearchMode = (typeof searchModes)[number]

export const chunkerTypes = ['character', 'sentence', 'paragraph', 'markdown', 'code'] as const
export type ChunkerType = (typeof chunkerTypes)[number]

export interface Chunk {
  chunk_id: string
  document_id: string
  content: string
  source: string
  metadata: JsonObject
  chunk_index: number
  chunk_size: number
  chunk_overlap: number
  chunker_type: ChunkerType
  /** Offsets into the document's text, in UTF-16 code units. */
  start_offset: number
  end_offset: number
  line_start?: number
  line_end?: number
  page?: number
}

/** The chunks before and after a chunk in its document, in order. */
export interface ChunkInDocument extends Chunk {
  before: Chunk[]
  after: Chunk[]
}

export interface SearchHit extends Chunk {
  /** 0–1, higher is better. */
  score: number
  explain?: HitExplanation
}

/** Why a hit ranks where it does: its ranks, from 1, in the merged lists; null when it is not in a list. */
export interface HitExplanation {
  rank: number
  keyword_rank: number | null
  keyword_score: number | null
  vector_rank: number | null
  vector_score: number | null
  /** The line with most of the query's words, and its text. */
  line: number | null
  text: string
  /** The words searched for, corrections of misspelt words included. */
  words: string[]
  /** Those of them that the hit or the headings above it have. */
  matches: string[]
  /** Its place in each list that the search put together, as in a trace. */
  lists: Record<string, ListPlace>
}

/** `rank` counts from 1. */
export interface ListPlace {
  rank: number
  score: number
}

export interface SearchQuery {
  query: string
  /** 1–100, default 10. */
  limit?: number | undefined
  filters?: Filters | undefined
  mode?: SearchMode | undefined
  /** Neighbouring chunks to add around each hit, 0–5, default 0. */
  context?: number | undefined
  collection?: string | undefined
  explain?: boolean | undefined
  /** Adds `trace` to the result. */
  trace?: boolean | undefined
}

export interface SearchResult {
  results: SearchHit[]
  mode: SearchMode
  /** Lists of a hybrid search that it had to do without. */
  skipped?: SkippedList[]
  trace?: SearchTrace
}

export interface SkippedList {
  /** `keyword`. */
  list: string
  reason: string
}

/** How a search came to its results, as a run records it. */
export interface SearchTrace {
  collection: string
  /** The words that the keyword search looked for, corrections of misspelt words included. */
  words: string[]
  /** The results and, up to `tracedCandidates` in all, what else was found, best first. */
  candidates: Candidate[]
  rerank?: Reranking
  /** Missing when the keyword search was not made. */
  fit?: Fit
}

/** How well the best passages fit the whole query, and what that is made of; all from 0 to 1. */
export interface Fit {
  score: number
  /** Below it the passages are about something else, and an agent without a model says nothing. */
  threshold: number
  /** The share of the query that one passage has: telling words count more. */
  coverage: number
  /** The best cosine of the list `lexical`, when there is one. */
  similarity?: number
  /** The share of the five best of the keyword list that are also among the five best by vectors; the mean of several lists. */
  agreement?: number
  /** How far the best is before the fifth, by the scores of all lists together. */
  lead?: number
  /** How many chunks the collection has. */
  chunks: number
  words: FitWord[]
}

/** A word of the query and how many chunks have it. */
export interface FitWord {
  word: string
  chunks: number
  /** How much it says: the fewer chunks have it, the more. */
  weight: number
  /** The word of a passage that counts for it: another form or spelling. */
  as?: string
}

export interface Candidate
  extends Pick<Chunk, 'chunk_id' | 'document_id' | 'source' | 'line_start' | 'line_end' | 'page'> {
  /** From 1, before repetitions of better results are left out. */
  rank: number
  score: number
  /** Its place in each merged list: `keyword`, and the name of the embedder. */
  lists: Record<string, ListPlace>
  /** What its source's weight multiplied the score by, when it is not 1. */
  weight?: number
}

/** A document's content: text, or bytes whose reader is found by media type and name. */
export interface IngestInput {
  content: string | Uint8Array
  /** A label, never a path that is opened. */
  name?: string | undefined
  media_type?: string | undefined
  /** The document's identity in its collection; default: `name`, else `text:` and a hash of the content. */
  source?: string | undefined
  metadata?: JsonObject | undefined
  chunker_type?: ChunkerType | undefined
  chunk_size?: number | undefined
  chunk_overlap?: number | undefined
  collection?: string | undefined
}

/** A local file. `encoding`: of text that is not UTF-8. */
export interface IngestFile extends Omit<IngestInput, 'content'> {
  file: FileContent
  encoding?: string | undefined
}

export interface IngestResult {
  document_id: string
  chunk_ids: string[]
  chunk_count: number
  chunker_type: ChunkerType
  chunk_size: number
  chunk_overlap: number
  collection: string
  replaced: boolean
  unchanged: boolean
}

/** A document to ingest or, without content, a question: does the collection have this hash already? */
export interface IngestItem extends Omit<IngestInput, 'content'> {
  content?: string | undefined
  /** SHA-256 of the bytes in hexadecimal; used without content. */
  content_hash?: string | undefined
}

export interface IngestOutcome {
  source: string
  /** `needed`: the document is new or changed, and the content was missing. */
  outcome: 'added' | 'replaced' | 'unchanged' | 'needed' | 'failed'
  /** Null when there is no such document. */
  document_id: string | null
  chunk_count: number
  error?: { code: string; message: string }
}

export interface DocumentRecord {
  document_id: string
  source: string
  name: string | null
  media_type: string | null
  metadata: JsonObject
  /** What the reader reported, and `chunk_size` and `chunk_overlap`. */
  reader_metadata: JsonObject
  content_hash: string
  chunk_count: number
  chunk_size: number
  chunk_overlap: number
  chunker_type: ChunkerType
  collection: string
  created_at: string
  updated_at: string
}

export interface KnowledgeConfig {
  available_chunkers: {
    name: ChunkerType
    description: string
    default_chunk_size: number
    default_chunk_overlap: number
  }[]
  default_chunker: ChunkerType
  available_vector_dbs: string[]
  vector_db: { type: string; collection: string }
  embedding_model: { provider: string; model: string; dimensions: number }
  /** The cross-encoder of hybrid searches; null without. `problem`: why searches go on without it. */
  rerank: { model: string; candidates: number; timeout_ms: number; problem: string | null } | null
  readers: { name: string; media_types: string[]; extensions: string[] }[]
  features: { search: boolean; content: boolean; documents: boolean }
  limits: { max_chunk_size: number; max_search_limit: number; max_context: number; max_request_bytes: number }
  collection: string
}

export interface KnowledgeStatus {
  collection: string
  documents: number
  chunks: number
  vectors: number
  embedding_model: { provider: string; model: string; dimensions: number }
  /** Documents whose vectors are not written yet. */
  pending: number
  /** Set while all chunks are embedded again. */
  reindexing?: Reindexing | undefined
  /** The websites and repositories of the config; undefined without any. */
  sources?: SourceStatus[] | undefined
}

/** Progress: bytes of the model's download, then chunks. */
export interface Reindexing {
  step: 'download' | 'embed'
  done: number
  total: number
}

/** The documents of the config's sources, so that documents of deleted files are recognised. */
export interface BroughtSources {
  list(collection?: string): Promise<Set<string>>
  /** Changes the list; durable when it resolves. */
  change(change: { add?: readonly string[]; forget?: readonly string[] }, collection?: string): Promise<void>
  /** Deletes the documents of these sources and gives their number. */
  delete(sources: readonly string[], collection?: string): Promise<number>
}

/** Errors: `invalid_request`, `unreadable_document`, `document_not_found`, `chunk_not_found`, `storage_full`. */
export interface Knowledge {
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchResult>
  /** Work alternates between callers (any id): slow documents of one do not delay another's. */
  ingest(input: IngestInput, signal?: AbortSignal, caller?: string): Promise<IngestResult>
  /** Text is read in parts, other formats whole; the document is whole or absent. Throws what `ingest` throws. */
  ingestFile(input: IngestFile, signal?: AbortSignal, caller?: string): Promise<IngestOutcome>
  /** Outcomes are in the order of the items. A failed item has an outcome; storage errors are thrown. */
  ingestMany(items: readonly IngestItem[], signal?: AbortSignal, caller?: string): Promise<IngestOutcome[]>
  config(): Promise<KnowledgeConfig>
  listDocuments(
    filter: { source?: string | undefined; collection?: string | undefined },
    page: PageRequest,
  ): Promise<Page<DocumentRecord>>
  getDocument(documentId: string): Promise<DocumentRecord>
  deleteDocument(documentId: string): Promise<void>
  /** With up to `context` (0–5) chunks before and after it: fewer if they have more than 1 MB together. */
  getChunk(chunkId: string, context?: number): Promise<ChunkInDocument>
  /** In order. A page ends early at 1 MB. Throws `conflict` for a cursor of content that was replaced. */
  listChunks(documentId: string, page: PageRequest): Promise<Page<Chunk>>
  brought: BroughtSources
  /** Sets what `status` says about the websites and repositories of the config. */
  tellSources(sources: readonly SourceStatus[]): void
  /** Embeds every chunk again, optionally with another embedder, whose model is downloaded. */
  reindex(options?: {
    embedder?: string | undefined
    progress?: (now: Reindexing) => void
    signal?: AbortSignal | undefined
  }): Promise<KnowledgeStatus>
  status(): Promise<KnowledgeStatus>
  /** Throws when the knowledge base does not answer. */
  check(): Promise<void>
}
