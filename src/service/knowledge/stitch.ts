import type { StoredChunk } from '../../core/knowledge/chunk.ts'

/** A chunk and its neighbours, in order, as one text without their overlaps. */
export function stitch(
  pieces: readonly StoredChunk[],
): Omit<StoredChunk, 'key' | 'id' | 'index' | 'headingPath'> | undefined {
  const first = pieces[0]
  if (!first) return undefined
  let content = first.content
  let end = first.endOffset
  let lineEnd = first.lineEnd
  for (const piece of pieces.slice(1)) {
    content += piece.content.slice(Math.max(0, end - piece.startOffset))
    end = Math.max(end, piece.endOffset)
    lineEnd = Math.max(lineEnd, piece.lineEnd)
  }
  return { content, startOffset: first.startOffset, endOffset: end, lineStart: first.lineStart, lineEnd }
}
