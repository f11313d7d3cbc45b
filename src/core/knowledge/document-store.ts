import { AppError } from '../error.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Page, PageRequest } from '../page.ts'
import type { WordGroup } from '../text/bm25.ts'
import type { ChunkRows, StoredChunk } from './chunk.ts'
import type { Embedding, TermFrequencies } from './drivers.ts'
import type { Filters } from './filter.ts'
import type { Chunk, ChunkerType, DocumentRecord } from './knowledge.ts'

export interface Collection {
  key: number
  name: string
  embedding: Embedding
  /** Increases with every change of the embedding; part of the vector table's name. */
  version: number
}

/** A chunk of a document's current generation, with the document fields that a hit shows. */
export interface CurrentChunk extends StoredChunk {
  generation: number
  documentId: string
  source: string
  metadata: JsonObject
  chunkSize: number
  chunkOverlap: number
  chunkerType: ChunkerType
}

/** Where a current chunk is, as a hit says it. */
export interface ChunkPlace
  extends Pick<Chunk, 'chunk_id' | 'document_id' | 'source' | 'line_start' | 'line_end' | 'page'> {
  key: number
  /** The titles above it, outermost first. */
  headingPath: string[]
}

export interface StoredDocument extends DocumentRecord {
  generation: number
}

export interface NewGeneration extends Omit<DocumentRecord, 'collection' | 'created_at'> {
  generation: number
  /** Of a document that is new in this store; default: `updated_at`. */
  created_at?: string | undefined
}

/** What became of a document that was published. */
export interface Published {
  /** That of the document of this source which was there first, also when another server had just added it. */
  documentId: string
  /** The generation that it had before. */
  replaced: number | undefined
}

/** The collection has another version than that for which the vectors were written. */
export class StaleCollection extends AppError {
  constructor(cause?: unknown) {
    super('unavailable', 'The collection was just reindexed. Retry in a moment.', { cause, retryAfterSeconds: 1 })
  }
}

/** The database gave up a search for words: it took too long, or somebody cancelled it there. */
export class SearchGivenUp extends AppError {
  constructor(why: string, cause?: unknown) {
    super('unavailable', `${why} Retry in a moment.`, { cause, retryAfterSeconds: 1 })
  }
}

/** Work that one server at a time does. It is free again when the one that has it ends or dies. */
export interface Works {
  /** False: another server has it. */
  take(name: string): Promise<boolean>
  /** Throws `unavailable` when this server does not have the work any more. */
  tell(name: string, progress: Json): Promise<void>
  /** What the one that has it told last; null before that. Undefined: nobody has it. */
  told(name: string): Promise<Json | undefined>
  release(name: string): Promise<void>
}

/** The work of the one server that writes all vectors anew. */
export const reindexWork = 'reindex'

/** Chunks of a generation; keys count up from `firstChunk`, the key of the document's first chunk. */
export interface NewChunks {
  generation: number
  firstChunk: number
  rows: ChunkRows
  /** For finding misspelt and partial words. May repeat known words. */
  newWords: readonly string[]
}

/** Chunk keys, best first. A higher `score` is better; its scale depends on the index. */
export type Ranking = { chunk: number; score: number }[]

export interface KeywordQuery {
  /** A chunk must contain one of these. */
  find: readonly string[]
  /** The words that the score of a chunk counts. */
  score: readonly WordGroup[]
  /** In the collection. */
  chunks: number
}

/**
 * Documents and the texts of their chunks: the source of truth of the knowledge base. Chunks are written under a
 * generation that readers see once `publish` makes it current. Throws `storage_full` when the disk is full.
 */
export interface DocumentStore {
  /** Absent: no other server has the same documents. */
  readonly works?: Works | undefined
  open(): Promise<void>
  /** Throws when it can't be read, or when the last write failed and a test write fails too. */
  check(): Promise<void>
  close(): Promise<void>
  collections(): Promise<Collection[]>
  findCollection(name: string): Promise<Collection | undefined>
  /** Finds the collection by name, or creates it with the embedding. */
  ensureCollection(name: string, embedding: Embedding): Promise<Collection>
  /** Changes the embedding of this version and increases it. Throws `StaleCollection` when the collection has another one. */
  setEmbedding(collection: number, embedding: Embedding, version: number): Promise<Collection>
  /** A generation and the first of the consecutive chunk keys, per document. Unique even after a crash. */
  reserve(chunks: readonly number[]): Promise<{ generation: number; firstChunk: number }[]>
  /** Adds chunks, except a document's last ones, to a generation that is not current yet. */
  addChunks(collection: number, chunks: NewChunks): Promise<void>
  /**
   * Writes the last chunks of documents and makes their generations current, in one transaction; the results are in order.
   * Throws `StaleCollection` when the collection has another version than the given.
   */
  publish(
    collection: number,
    documents: readonly (NewChunks & { document: NewGeneration })[],
    version?: number,
  ): Promise<Published[]>
  /** Deletes chunks of non-current generations. Default: all; only allowed while this server writes nothing. */
  collect(generations?: readonly number[]): Promise<void>
  /** The existing documents of these sources, by source. */
  findBySources(collection: number, sources: readonly string[]): Promise<Map<string, StoredDocument>>
  /** Throws `document_not_found`. */
  getDocument(documentId: string): Promise<StoredDocument>
  deleteDocument(documentId: string): Promise<{ collection: number; generation: number }>
  /** The sources that the config added to this collection. */
  brought(collection: string): Promise<string[]>
  changeBrought(collection: string, add: readonly string[], forget: readonly string[]): Promise<void>
  listDocuments(
    filter: { collection?: number | undefined; source?: string | undefined },
    page: PageRequest,
  ): Promise<Page<StoredDocument>>
  chunkIds(generation: number): Promise<string[]>
  /** Chunks of these generations with `key > after`, by key. */
  chunksOf(
    generations: readonly number[],
    after: number,
    limit: number,
  ): Promise<(StoredChunk & { generation: number })[]>
  stillCurrent(generations: readonly number[]): Promise<number[]>
  /** Current generations with their number of chunks. */
  generations(collection: number): Promise<{ generation: number; chunks: number }[]>
  totals(collection?: number): Promise<{ documents: number; chunks: number }>
  /** Current generations of documents that match the filters. */
  matching(collection: number, filters: Filters): Promise<number[]>
  keyword(collection: number, query: KeywordQuery, filters: Filters, limit: number): Promise<Ranking>
  /** Other words of the collection with the same stem, by word. */
  inflections(collection: number, words: readonly string[]): Promise<Map<string, string[]>>
  /** Words of the collection that share trigrams with the word, most similar first, without the word itself. */
  similarWords(collection: number, word: string, limit: number): Promise<string[]>
  frequencies(collection: number, words: readonly string[], trigrams: readonly string[]): Promise<TermFrequencies>
  /** Which of the keys are current, in no order. */
  current(collection: number, chunks: readonly number[]): Promise<CurrentChunk[]>
  /** Where those of the keys are that are current, in no order. */
  places(collection: number, chunks: readonly number[]): Promise<ChunkPlace[]>
  /**
   * The current chunk with this id and up to `count` before and after it, in order; of these the nearest whose texts
   * and metadata have at most `maxBytes` together. Throws `chunk_not_found`.
   */
  chunksAround(id: string, count: number, maxBytes: number): Promise<CurrentChunk[]>
  /** Chunks of a generation with `index >= from`, in order, at least one; none when it is not current. */
  chunksFrom(generation: number, from: number, limit: number, maxBytes: number): Promise<CurrentChunk[]>
  /** Chunks of a generation with `from <= index <= to`, in order. */
  range(generation: number, from: number, to: number): Promise<StoredChunk[]>
}
