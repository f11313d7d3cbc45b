const encoder = new TextEncoder()

/** A stored chunk. Keys and generations are positive integers that are never reused. */
export interface StoredChunk {
  key: number
  id: string
  index: number
  content: string
  headingPath: string[]
  startOffset: number
  endOffset: number
  lineStart: number
  lineEnd: number
  /** The page where it begins, from 1. */
  page?: number | undefined
}

/** A chunk before it is stored, with the length of its normalised words in bytes. */
export interface NewChunk extends Omit<StoredChunk, 'key'> {
  headingWordsBytes: number
  wordsBytes: number
}

/**
 * Chunks of one document in the form that a preparer passes to the document store. Texts are bytes beside the JSON:
 * escaping, parsing and copying them took a tenth of the time of storing.
 */
export interface ChunkRows {
  /** A JSON array with one array per chunk: the values of `chunkFields`, in order. */
  fields: string
  /** All contents, concatenated as UTF-8. */
  texts: Uint8Array
  /** For each chunk the normalised words of its headings, then its own, separated by spaces, concatenated as UTF-8. */
  words: Uint8Array
}

/** `…From` and `…Bytes` locate a text in `texts` or `words`; the words of the chunk follow those of its headings. */
const chunkFields = [
  'index',
  'id',
  'headingPath',
  'startOffset',
  'endOffset',
  'lineStart',
  'lineEnd',
  'page',
  'textFrom',
  'textBytes',
  'wordsFrom',
  'headingWordsBytes',
  'wordsBytes',
] as const
export type ChunkField = (typeof chunkFields)[number]

/** The index of a field in a chunk's array. */
export function chunkFieldIndex(field: ChunkField): number {
  return chunkFields.indexOf(field)
}

/** `words`: those of all chunks, as `ChunkRows` has them. */
export function chunkRows(chunks: readonly NewChunk[], words: Uint8Array): ChunkRows {
  const texts = encoded(chunks.map(({ content }) => content))
  let textFrom = 0
  let wordsFrom = 0
  const fields = chunks.map((chunk, index) => {
    const textBytes = texts.lengths[index] ?? 0
    const { headingWordsBytes, wordsBytes } = chunk
    const row: Record<ChunkField, string | number | null> = {
      index: chunk.index,
      id: chunk.id,
      headingPath: JSON.stringify(chunk.headingPath),
      startOffset: chunk.startOffset,
      endOffset: chunk.endOffset,
      lineStart: chunk.lineStart,
      lineEnd: chunk.lineEnd,
      page: chunk.page ?? null,
      textFrom,
      textBytes,
      wordsFrom,
      headingWordsBytes,
      wordsBytes,
    }
    textFrom += textBytes
    wordsFrom += wordsBytes + headingWordsBytes
    return JSON.stringify(chunkFields.map((field) => row[field]))
  })
  return { fields: `[${fields.join(',')}]`, texts: texts.bytes, words }
}

/** The texts concatenated as UTF-8, with the length of each in bytes. */
function encoded(texts: readonly string[]): { bytes: Uint8Array; lengths: number[] } {
  const all = texts.join('')
  const bytes = encoder.encode(all)
  const ascii = bytes.length === all.length
  return { bytes, lengths: texts.map((text) => (ascii ? text.length : Buffer.byteLength(text))) }
}
