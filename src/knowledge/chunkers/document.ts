import type { Chunker, ChunkOptions, Heading, ReadText, Span } from '../../core/knowledge/drivers.ts'

export interface DocumentSpan extends Span {
  page?: number
}

/** The chunks of a read text, with positions in the whole text; none crosses the end of a page. */
export function* chunkDocument(read: ReadText, chunker: Chunker, options: ChunkOptions): Generator<DocumentSpan> {
  const starts = read.pages ?? [read.start]
  const outlineOf = outlineParts(read.outline)
  const above = options.open ?? { path: [] }
  let lines = linesIn(read.text.slice(0, starts[0]))
  for (const [at, start] of starts.entries()) {
    const text = read.text.slice(start, starts[at + 1])
    const outline = outlineOf(start, start + text.length)
    const page = read.pages === undefined ? {} : { page: at + 1 }
    // Markdown of one page says nothing about the next; an outline goes on.
    const open = read.pages === undefined || outline !== undefined ? above : undefined
    if (read.pages === undefined || text.trim() !== '')
      for (const span of chunker.chunk(text, { ...options, outline, open }))
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

/** The headings of each part of the text, as that part counts. Call it with ascending parts. */
function outlineParts(outline: readonly Heading[] | undefined) {
  let next = 0
  return (from: number, to: number): readonly Heading[] | undefined => {
    if (outline === undefined) return undefined
    const first = next
    while (next < outline.length && (outline[next]?.start ?? to) < to) next++
    return outline.slice(first, next).map((heading) => ({ ...heading, start: heading.start - from }))
  }
}

function linesIn(text: string): number {
  return text.split('\n').length - 1
}
