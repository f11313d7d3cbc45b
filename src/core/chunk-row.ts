import type { StoredChunk } from './knowledge-drivers.ts'

const encoder = new TextEncoder()

/**
 * Chunks of one document as the document store takes them: the bytes of a JSON array with an array for each: index, id,
 * content, heading path (as JSON), offsets, lines, page, and the words of its text and of its headings for the keyword
 * index, separated by spaces.
 */
export function chunkRows(chunks: readonly (Omit<StoredChunk, 'key'> & ChunkWords)[]): Uint8Array {
  const rows = chunks.map((chunk) =>
    JSON.stringify([
      chunk.index,
      chunk.id,
      chunk.content,
      JSON.stringify(chunk.headingPath),
      chunk.startOffset,
      chunk.endOffset,
      chunk.lineStart,
      chunk.lineEnd,
      chunk.page ?? null,
      chunk.words,
      chunk.headingWords,
    ]),
  )
  return encoder.encode(`[${rows.join(',')}]`)
}

export interface ChunkWords {
  words: string
  headingWords: string
}
