/** What a document's and a search's settings may be at most. Sizes of chunks and texts are in characters. */
export const knowledgeLimits = {
  chunkSize: 20_000,
  chunkOverlap: 19_999,
  search: 100,
  context: 5,
  /** A name, a source, a media type. */
  label: 1_024,
  query: 10_000,
  metadata: 100_000,
  /** Of the texts and metadata of chunks that are read together. */
  chunkBytes: 1_000_000,
}

/** A trace lists at least the results and at most this many chunks, if there are not more results. */
export const tracedCandidates = 20
/** The keyword search takes no more words of a query. */
export const maxSearchWords = 64

export const collectionPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
export const collectionWords = '1 to 64 letters, digits, ., - and _, beginning with a letter or digit'

export const defaultChunkSize = 1_000

/** Of a local file, in bytes. */
export const defaultMaxFileSize = 100 * 1024 ** 2

export function defaultChunkOverlap(chunkSize: number): number {
  return Math.min(100, Math.floor(chunkSize / 10))
}
