import type { StoredChunk } from './chunk.ts'

/** What an embedder gets of a chunk: its headings and its text. */
export function textToEmbed(chunk: Pick<StoredChunk, 'content' | 'headingPath'>): string {
  return chunk.headingPath.length === 0 ? chunk.content : `${chunk.headingPath.join(' > ')}\n${chunk.content}`
}
