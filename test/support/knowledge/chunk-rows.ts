import { type ChunkRows, chunkRows, type NewChunk } from '../../../src/core/knowledge/chunk.ts'

type Chunk = Omit<NewChunk, 'wordsBytes' | 'headingWordsBytes'>

/** The rows of chunks whose words are texts. */
export function rowsOf(chunks: readonly (Chunk & { words: string; headingWords: string })[]): ChunkRows {
  const sized = chunks.map(({ words, headingWords, ...chunk }) => ({
    ...chunk,
    wordsBytes: Buffer.byteLength(words),
    headingWordsBytes: Buffer.byteLength(headingWords),
  }))
  return chunkRows(sized, Buffer.from(chunks.map(({ words, headingWords }) => headingWords + words).join('')))
}
