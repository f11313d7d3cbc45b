import type { JsonObject } from '../json.ts'
import type { ChunkRows } from './chunk.ts'
import type { ChunkerType } from './knowledge.ts'

/** What a reader made of a document's bytes. */
export interface ReadText {
  text: string
  /** Start of the text to chunk; front matter before it becomes `metadata`. */
  start: number
  metadata: JsonObject
  /** The default chunker for the format. */
  chunker: ChunkerType
  reader: string
  /** Offsets of the pages, the first included, when the format has pages. */
  pages?: number[] | undefined
  /** For the chunker, when the format's headings are not Markdown; `start` is 0 then. */
  outline?: readonly Heading[] | undefined
  /** Of a part: what its reader needs for the next, and how many lines it has in the file, unless it is as many. */
  reading?: JsonObject | undefined
  lines?: number | undefined
}

/** What is open at the end of a text: its headings, and a block of code until a line that matches `fence`. */
export interface OpenSections {
  path: { level: number; title: string }[]
  fence?: string | undefined
}

/** Where the earlier parts of a long text end, and what goes on from there. */
export interface PartBefore {
  chunks: number
  /** In the text that was read. */
  offset: number
  lines: number
  reading: JsonObject
  open: OpenSections
}

/** A heading at offset `start`; level 1 is the highest. */
export interface Heading {
  start: number
  level: number
  title: string
}

export interface ReaderInfo {
  name: string
  media_types: string[]
  extensions: string[]
}

/** Finds the reader by media type, then by the extension of the name. Throws `unreadable_document` with the reason. */
export interface Readers {
  list(): ReaderInfo[]
  read(input: {
    content: string | Uint8Array
    name?: string | undefined
    mediaType?: string | undefined
    signal?: AbortSignal | undefined
  }): Promise<ReadText>
  /** Ends the reader process; active reads fail. A later read starts a new process. */
  close(): Promise<void>
}

/** A piece `[start, end)` of a text; lines count from 1. */
export interface Span {
  start: number
  end: number
  lineStart: number
  lineEnd: number
  /** The headings above the piece, outermost first. */
  headingPath?: string[] | undefined
}

export interface ChunkOptions {
  /** UTF-16 code units; a longer grapheme cluster becomes a chunk of its own. */
  size: number
  /** Maximum text of a chunk that is repeated at the start of the next. */
  overlap: number
  /** The headings of the text, in order, when they are known; every piece gets its heading path from them. */
  outline?: readonly Heading[] | undefined
  /** What is open above the text; the chunker changes it to what is open at the end. */
  open?: OpenSections | undefined
}

/** Splits a text into consecutive pieces that cover it completely and never split a grapheme cluster. */
export interface Chunker {
  readonly name: ChunkerType
  readonly description: string
  chunk(text: string, options: ChunkOptions): Iterable<Span>
}

/** The embedder of a collection's vectors; only the same embedder can search them. */
export interface Embedding {
  provider: string
  model: string
  dimensions: number
}

/** The number of chunks that contain a term; for trigrams an estimate from the words that contain them. */
export interface TermFrequencies {
  chunks: number
  words: Map<string, number>
  trigrams: Map<string, number>
}

export interface Embedder {
  readonly embedding: Embedding
  /** L2-normalised vectors, in order. */
  embedTexts(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
  embedQuery(
    query: string,
    frequencies: (words: string[], trigrams: string[]) => Promise<TermFrequencies>,
    signal?: AbortSignal,
  ): Promise<Float32Array>
  close(): Promise<void>
}

export interface DownloadProgress {
  /** The total of the files known so far. */
  loadedBytes: number
  totalBytes: number
  file: string
}

export interface Embedders {
  /** The embedding of a new collection; resolves `auto`. Throws when the named embedder is not available. */
  resolve(provider?: string): Promise<Embedding>
  /** Besides its own embedder, every collection has the vectors of this one, which needs nothing. */
  readonly beside: Embedding
  /** The configured embedder, possibly `auto`. */
  readonly configured: { provider: string; model: string | undefined }
  /**
   * Downloads missing files of the embedder's model; no other call downloads. A failed or aborted download is never
   * used as a model. Throws `unavailable` with the reason.
   */
  download(
    provider: string,
    options?: { progress?: (progress: DownloadProgress) => void; signal?: AbortSignal | undefined },
  ): Promise<void>
  /** What an embedder on this machine lacks to embed anything, and what to do about it. */
  problem(embedding: Embedding): Promise<string | undefined>
  open(embedding: Embedding): Promise<Embedder>
}

/** Says of texts how well they answer a query: better than rankings do, and slower. */
export interface Reranker {
  readonly model: string
  /** How many of the best are scored, and how long that may take. */
  readonly candidates: number
  readonly timeoutMs: number
  /** Why it can't be used. */
  problem(): Promise<string | undefined>
  /** From 0 to 1, in order. Throws `unavailable` with the reason. */
  score(query: string, texts: readonly string[], signal: AbortSignal): Promise<number[]>
  close(): Promise<void>
}

export interface VectorRow {
  chunk: number
  generation: number
  /** 32-bit floats, or the bits of 16-bit floats (IEEE 754 binary16). */
  vector: Float32Array | Uint16Array
}

/** Vectors of one collection. Keys are positive integers below 2^31; a key is added once. */
export interface VectorHit {
  chunk: number
  generation: number
  similarity: number
}

export interface VectorTable {
  add(rows: readonly VectorRow[]): Promise<void>
  /**
   * Nearest by cosine first; `generations` limits the search. A brief one leaves rows out that no index has yet while they
   * are too many to compare with each: for some seconds after a large ingestion.
   */
  search(vector: Float32Array, limit: number, generations?: readonly number[], brief?: boolean): Promise<VectorHit[]>
  counts(): Promise<Map<number, number>>
  count(): Promise<number>
  removeGenerations(generations: readonly number[]): Promise<void>
  /** Merges the files of many small writes; never needed for correctness. */
  compact(): Promise<void>
  /** Of an `atomic` store: the current generations of its collection whose vectors are not all there. */
  missing?(): Promise<number[]>
}

export interface VectorStore {
  readonly type: string
  /** Where the vectors are stored, for people. */
  readonly location: string
  /** Several processes share it: rows of other generations than the current ones are being written, or removed by the documents. */
  readonly atomic?: boolean
  /** Opens or creates the table. The name consists of `A-Z a-z 0-9 _`. */
  table(name: string, dimensions: number): Promise<VectorTable>
  names(): Promise<string[]>
  /** Works in any state of the table. */
  drop(name: string): Promise<void>
  close(): Promise<void>
}

export interface PrepareRequest {
  content: string | Uint8Array
  name: string | undefined
  mediaType: string | undefined
  /** The document's name in errors. */
  source: string
  /** Default: the format's chunker. */
  chunker: ChunkerType | undefined
  size: number
  overlap: number
  /** For the ids of the chunks. */
  now: number
  collection: string
  /** Of all vectors of the target collection. */
  embeddings: readonly Embedding[]
  /** Slow work alternates between callers. */
  caller: string
  /** The content is one part of a longer text; `before` is undefined for the first. */
  part?: { before: PartBefore | undefined; encoding: string } | undefined
}

/** A document that is read and split, and embedded by the embedders that are built in. */
export interface PreparedDocument {
  metadata: JsonObject
  /** The format's default chunker, and the one that was used. */
  suggestedChunker: ChunkerType
  chunker: ChunkerType
  chunkIds: string[]
  /** Batches of chunks; all but the last have the same size. */
  rows: ChunkRows[]
  /** Words that are new to the collection, as far as the preparer remembers. */
  newWords: string[]
  /** By the provider of their embedder, as far as it is built in: concatenated, in order, as `VectorRow` has them. */
  vectors: ReadonlyMap<string, Uint16Array>
  /** The texts to embed, when an embedder is not built in. */
  texts: string[] | undefined
  /** Of a part: for the next one. */
  after?: PartBefore | undefined
}

/** A file that may be too large to be read whole. */
export interface FileContent {
  size: number
  /** SHA-256 in hexadecimal. */
  hash: string
  /** The first bytes. */
  head: Uint8Array
  /** Bytes around the first ones that are not UTF-8 text; undefined when all are. */
  foreign: Uint8Array | undefined
  /** The bytes in order; each piece is valid until the next. */
  pieces(): AsyncIterable<Uint8Array>
}

/** Prepares documents outside the serving thread. Throws what readers throw, and `payload_too_large`. */
export interface Preparer {
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedDocument>
  /** Whether the format can be read in parts. Throws `unreadable_document` when no reader fits. */
  takesParts(request: Pick<PrepareRequest, 'name' | 'mediaType' | 'source'>, head: Uint8Array): boolean
  /** Prepares a long text part by part, so that memory does not grow with it. `encoding`: of text that is not UTF-8. */
  prepareParts(
    request: Omit<PrepareRequest, 'content' | 'part'>,
    file: FileContent,
    encoding: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<PreparedDocument>
  /** Call when prepared documents may not have been stored: all words are sent again. */
  forgetWords(): void
  /** Call once the document is stored and no longer used. */
  release(document: PreparedDocument): void
  close(): Promise<void>
}
