import type { JsonObject } from '../json.ts'
import type { ChunkRows } from './chunk.ts'
import type { ChunkerType } from './knowledge.ts'

/** What a reader made of bytes: the text that is stored and cited, and what it says of itself. */
export interface ReadText {
  text: string
  /** Where the text to chunk begins; before it is front matter, kept as `metadata`. */
  start: number
  metadata: JsonObject
  /** The chunker that suits the format. */
  chunker: ChunkerType
  /** The name of the reader. */
  reader: string
  /** Offsets at which the pages begin, the first included, where the format has pages. */
  pages?: number[] | undefined
  /** For the chunker, where the format's headings are not those of Markdown; `start` is 0 then. */
  outline?: readonly Heading[] | undefined
}

/** A heading that begins at `start` of a text; level 1 is the highest. */
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
  /** Ends what reads in another process; what is being read fails. Reading again starts anew. */
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
  /** UTF-16 code units; a grapheme cluster that is longer becomes a longer chunk of its own. */
  size: number
  /** At most this much of a chunk is repeated at the start of the next. */
  overlap: number
  /** The headings of the text, in order, when they are known; they give every piece its heading path. */
  outline?: readonly Heading[] | undefined
}

/** Cuts a text into pieces in order that leave nothing of it out and never cut a grapheme cluster. */
export interface Chunker {
  readonly name: ChunkerType
  readonly description: string
  chunk(text: string, options: ChunkOptions): Iterable<Span>
}

/** Which embedder made a collection's vectors; they can only be searched with the same. */
export interface Embedding {
  provider: string
  model: string
  dimensions: number
}

/** In how many chunks of the collection a term occurs; for trigrams an estimate from the words that have them. */
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
  /** Of the files known so far. */
  loadedBytes: number
  totalBytes: number
  /** The file at hand. */
  file: string
}

export interface Embedders {
  /** What a new collection gets: `auto` is decided here. Throws when a named embedder is not available. */
  resolve(provider?: string): Promise<Embedding>
  /** What the configuration asks for, `auto` included. */
  readonly configured: { provider: string; model: string | undefined }
  /**
   * Downloads what the embedder needs and has not got yet; the only thing that downloads. What came before it failed or
   * was stopped is never taken for a model. Throws `unavailable` with the reason.
   */
  download(
    provider: string,
    options?: { progress?: (progress: DownloadProgress) => void; signal?: AbortSignal | undefined },
  ): Promise<void>
  open(embedding: Embedding): Promise<Embedder>
}

export interface VectorRow {
  chunk: number
  generation: number
  /** 32-bit floats, or the bits of 16-bit ones (IEEE 754 binary16). */
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
  /** Nearest by cosine first; only of the generations given, when given. */
  search(vector: Float32Array, limit: number, generations?: readonly number[]): Promise<VectorHit[]>
  /** Vectors by generation. */
  counts(): Promise<Map<number, number>>
  count(): Promise<number>
  removeGenerations(generations: readonly number[]): Promise<void>
  /** Rewrites what many small writes left; never needed for correctness. */
  compact(): Promise<void>
}

export interface VectorStore {
  readonly type: string
  /** Where it keeps them, for people. */
  readonly location: string
  /** Opens the table, made when it is not there. The name is of `A-Z a-z 0-9 _`. */
  table(name: string, dimensions: number): Promise<VectorTable>
  names(): Promise<string[]>
  /** Whatever state the table is in. */
  drop(name: string): Promise<void>
  close(): Promise<void>
}

export interface PrepareRequest {
  content: string | Uint8Array
  name: string | undefined
  mediaType: string | undefined
  /** What errors call the document. */
  source: string
  /** Default: the one that suits the format. */
  chunker: ChunkerType | undefined
  size: number
  overlap: number
  /** For the ids of the chunks. */
  now: number
  collection: string
  /** Of the collection that it is for. */
  embedding: Embedding
  /** Callers have equal turns at what takes long. */
  caller: string
}

/** A document read and cut, and embedded as far as that needs no model. */
export interface PreparedDocument {
  metadata: JsonObject
  /** The chunker that suits the format, and the one that was used. */
  suggestedChunker: ChunkerType
  chunker: ChunkerType
  chunkIds: string[]
  /** Some chunks each, all but the last as many. */
  rows: ChunkRows[]
  /** Those of its words that no document of the collection has brought yet, as far as the preparer remembers. */
  newWords: string[]
  /** One after the other, in order, as `VectorRow` has them; undefined when the embedder is not built in. */
  vectors: Uint16Array | undefined
  /** What the embedder is to get, when there are no `vectors`. */
  texts: string[] | undefined
}

/** Makes documents ready off the thread that serves. Throws what readers throw, and `payload_too_large`. */
export interface Preparer {
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedDocument>
  /** What was prepared last may not have been stored: bring all words again. */
  forgetWords(): void
  /** The document is stored and nobody reads it any more. */
  release(document: PreparedDocument): void
  close(): Promise<void>
}
