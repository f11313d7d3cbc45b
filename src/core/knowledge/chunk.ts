const encoder = new TextEncoder()

/** A chunk as it is stored; keys and generations are positive integers, never given twice. */
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
  /** The page that it begins on, from 1. */
  page?: number | undefined
}

/** For the keyword index: normalised, separated by spaces. */
export interface ChunkWords {
  words: string
  headingWords: string
}

/**
 * Some chunks of one document as the document store takes them. What is long is bytes beside the JSON: escaping, parsing
 * and copying it was a tenth of the work of storing it.
 */
export interface ChunkRows {
  /**
   * A JSON array with an array for each chunk: index, id, heading path (as JSON), offsets, lines, page; where its text is
   * in `texts` and its words in `words`, in bytes: from, length, from, length; and how long the words of its headings
   * are, which follow.
   */
  fields: string
  /** UTF-8, one after the other. */
  texts: Uint8Array
  /** Likewise. */
  words: Uint8Array
}

export function chunkRows(chunks: readonly (Omit<StoredChunk, 'key'> & ChunkWords)[]): ChunkRows {
  const texts = encoded(chunks.map(({ content }) => content))
  const words = encoded(chunks.flatMap((chunk) => [chunk.words, chunk.headingWords]))
  let textFrom = 0
  let wordsFrom = 0
  const fields = chunks.map((chunk, at) => {
    const textLength = texts.lengths[at] ?? 0
    const wordsLength = words.lengths[at * 2] ?? 0
    const headingLength = words.lengths[at * 2 + 1] ?? 0
    const row = JSON.stringify([
      chunk.index,
      chunk.id,
      JSON.stringify(chunk.headingPath),
      chunk.startOffset,
      chunk.endOffset,
      chunk.lineStart,
      chunk.lineEnd,
      chunk.page ?? null,
      textFrom,
      textLength,
      wordsFrom,
      wordsLength,
      headingLength,
    ])
    textFrom += textLength
    wordsFrom += wordsLength + headingLength
    return row
  })
  return { fields: `[${fields.join(',')}]`, texts: texts.bytes, words: words.bytes }
}

/** The texts one after the other as UTF-8, with the length of each in bytes. */
function encoded(texts: readonly string[]): { bytes: Uint8Array; lengths: number[] } {
  const all = texts.join('')
  const bytes = encoder.encode(all)
  const ascii = bytes.length === all.length
  return { bytes, lengths: texts.map((text) => (ascii ? text.length : Buffer.byteLength(text))) }
}
