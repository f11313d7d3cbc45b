import type { StoredChunk } from './knowledge-drivers.ts'
import { wordsOf } from './terms.ts'

/**
 * A chunk as the JSON array that the document store takes: index, id, content, heading path (as JSON), offsets, lines,
 * page, and the words (separated by spaces) of its text and of its headings for the keyword index.
 */
export function chunkRow(chunk: Omit<StoredChunk, 'key'>, words: string): string {
  return JSON.stringify([
    chunk.index,
    chunk.id,
    chunk.content,
    JSON.stringify(chunk.headingPath),
    chunk.startOffset,
    chunk.endOffset,
    chunk.lineStart,
    chunk.lineEnd,
    chunk.page ?? null,
    words,
    wordsOf(chunk.headingPath.join(' ')).join(' '),
  ])
}
