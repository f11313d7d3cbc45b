import type { Chunker, ChunkOptions, ReadText, Span } from '../../core/knowledge/drivers.ts'

export interface DocumentSpan extends Span {
  page?: number
}

/** The chunks of a read text, with positions in the whole text; none crosses the end of a page. */
export function* chunkDocument(read: ReadText, chunker: Chunker, options: ChunkOptions): Generator<DocumentSpan> {
  const starts = read.pages ?? [read.start]
  let lines = linesIn(read.text.slice(0, starts[0]))
  for (const [at, start] of starts.entries()) {
    const text = read.text.slice(start, starts[at + 1])
    const page = read.pages === undefined ? {} : { page: at + 1 }
    if (read.pages === undefined || text.trim() !== '')
      for (const span of chunker.chunk(text, { ...options, outline: read.outline }))
        yield {
          ...span,
          ...page,
          start: span.start + start,
          end: span.end + start,
          lineStart: span.lineStart + lines,
          lineEnd: span.lineEnd + lines,
        }
    if (starts.length > 1) lines += linesIn(text)
  }
}

function linesIn(text: string): number {
  return text.split('\n').length - 1
}
