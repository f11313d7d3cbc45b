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

/** For the keyword index: normalised, separated by spaces. */
export interface ChunkWords {
  words: string
  headingWords: string
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
  /** For each chunk its normalised words, then those of its headings, concatenated as UTF-8. */
  words: Uint8Array
}

/** `…From` and `…Bytes` locate a text in `texts` or `words`; the words of the headings follow those of the chunk. */
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
  'wordsBytes',
  'headingWordsBytes',
] as const
export type ChunkField = (typeof chunkFields)[number]

/** The index of a field in a chunk's array. */
export function chunkFieldIndex(field: ChunkField): number {
  return chunkFields.indexOf(field)
}

export function chunkRows(chunks: readonly (Omit<StoredChunk, 'key'> & ChunkWords)[]): ChunkRows {
  const texts = encoded(chunks.map(({ content }) => content))
  const words = encoded(chunks.flatMap((chunk) => [chunk.words, chunk.headingWords]))
  let textFrom = 0
  let wordsFrom = 0
  const fields = chunks.map((chunk, index) => {
    const textBytes = texts.lengths[index] ?? 0
    const wordsBytes = words.lengths[index * 2] ?? 0
    const headingWordsBytes = words.lengths[index * 2 + 1] ?? 0
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
      wordsBytes,
      headingWordsBytes,
    }
    textFrom += textBytes
    wordsFrom += wordsBytes + headingWordsBytes
    return JSON.stringify(chunkFields.map((field) => row[field]))
  })
  return { fields: `[${fields.join(',')}]`, texts: texts.bytes, words: words.bytes }
}

/** The texts concatenated as UTF-8, with the length of each in bytes. */
function encoded(texts: readonly string[]): { bytes: Uint8Array; lengths: number[] } {
  const all = texts.join('')
  const bytes = encoder.encode(all)
  const ascii = bytes.length === all.length
  return { bytes, lengths: texts.map((text) => (ascii ? text.length : Buffer.byteLength(text))) }
}
