import type { JsonObject } from '../json.ts'
import type { Page, PageRequest } from '../page.ts'
import type { ChunkRows, StoredChunk } from './chunk.ts'
import type { Embedding, TermFrequencies } from './drivers.ts'
import type { ChunkerType, DocumentRecord, Filters } from './knowledge.ts'

export interface Collection {
  key: number
  name: string
  embedding: Embedding
  /** Counts up with every change of the embedding; part of the vector table's name. */
  version: number
}

/** A chunk of a document's current generation, with what a hit shows of the document. */
export interface CurrentChunk extends StoredChunk {
  generation: number
  documentId: string
  source: string
  metadata: JsonObject
  chunkSize: number
  chunkOverlap: number
  chunkerType: ChunkerType
}

export interface StoredDocument extends DocumentRecord {
  generation: number
}

export interface NewGeneration extends Omit<DocumentRecord, 'collection' | 'created_at'> {
  generation: number
}

/** Some chunks of a generation; keys count up from `firstChunk`, that of the document's first. */
export interface NewChunks {
  generation: number
  firstChunk: number
  rows: ChunkRows
  /** For finding misspelt and partial words; what is there already is no harm. */
  newWords: readonly string[]
}

/** A list of chunk keys, best first; `score` is higher for better and of the index's own scale. */
export type Ranking = { chunk: number; score: number }[]

/**
 * Documents and the texts of their chunks: the truth of the knowledge base. A document's chunks are written under a
 * generation that nobody sees until `publish` makes it current. Throws `storage_full` when the disk is.
 */
export interface DocumentStore {
  open(): Promise<void>
  /** Throws when it can't be read, or when the last write failed and one that changes nothing does too. */
  check(): Promise<void>
  close(): Promise<void>
  collections(): Promise<Collection[]>
  findCollection(name: string): Promise<Collection | undefined>
  /** The collection of that name; made with the embedding when it is not there. */
  ensureCollection(name: string, embedding: Embedding): Promise<Collection>
  /** Changes the embedding and counts the version up. */
  setEmbedding(collection: number, embedding: Embedding): Promise<Collection>
  /** For each document a generation and the first of so many consecutive chunk keys, used by nobody else even after a crash. */
  reserve(chunks: readonly number[]): Promise<{ generation: number; firstChunk: number }[]>
  /** Chunks that are not the document's last, of a generation that is not current yet. */
  addChunks(collection: number, chunks: NewChunks): Promise<void>
  /** Writes the last chunks of documents and makes their generations current, in one transaction. */
  publish(collection: number, documents: readonly (NewChunks & { document: NewGeneration })[]): Promise<void>
  /** Removes the chunks of those of the generations (default: of all, while nothing is being written) that are not current. */
  collect(generations?: readonly number[]): Promise<void>
  /** The documents there are of these sources, by source. */
  findBySources(collection: number, sources: readonly string[]): Promise<Map<string, StoredDocument>>
  /** Throws `document_not_found`. */
  getDocument(documentId: string): Promise<StoredDocument>
  deleteDocument(documentId: string): Promise<{ collection: number; generation: number }>
  /** The sources that `setBrought` was last given for the collection of that name. */
  brought(collection: string): Promise<string[]>
  setBrought(collection: string, sources: readonly string[]): Promise<void>
  listDocuments(
    filter: { collection?: number | undefined; source?: string | undefined },
    page: PageRequest,
  ): Promise<Page<StoredDocument>>
  chunkIds(generation: number): Promise<string[]>
  /** Chunks of these generations with `key > after`, in the order of their keys. */
  chunksOf(
    generations: readonly number[],
    after: number,
    limit: number,
  ): Promise<(StoredChunk & { generation: number })[]>
  /** Those of the generations that are current. */
  stillCurrent(generations: readonly number[]): Promise<number[]>
  /** Current generations with their number of chunks. */
  generations(collection: number): Promise<{ generation: number; chunks: number }[]>
  totals(collection?: number): Promise<{ documents: number; chunks: number }>
  /** Current generations of documents that the filters let through. */
  matching(collection: number, filters: Filters): Promise<number[]>
  keyword(collection: number, words: readonly string[], filters: Filters, limit: number): Promise<Ranking>
  /** Words of the collection that share trigrams with the one given, the most alike first; not that word itself. */
  similarWords(collection: number, word: string, limit: number): Promise<string[]>
  frequencies(collection: number, words: readonly string[], trigrams: readonly string[]): Promise<TermFrequencies>
  /** Those of the keys that are current, in no order. */
  current(collection: number, chunks: readonly number[]): Promise<CurrentChunk[]>
  /** Chunks of a generation with `from <= index <= to`, in order. */
  range(generation: number, from: number, to: number): Promise<StoredChunk[]>
}
