import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../core/error.ts'
import type { Chunker, ReadText, Span, StoredChunk } from '../core/knowledge-drivers.ts'

const maxChunks = 50_000
/** Overlap may repeat a text at most so often, and small texts as often as they like. */
const maxRepetition = 25
const freeCharacters = 1_000_000
const turnMs = 10

/** The pieces of a text with places in the whole of it. Throws `payload_too_large` when there would be too many. */
export async function chunkText(
  read: ReadText,
  chunker: Chunker,
  options: { size: number; overlap: number },
  signal: AbortSignal,
): Promise<Span[]> {
  const linesBefore = read.text.slice(0, read.start).split('\n').length - 1
  const budget = Math.max(freeCharacters, read.text.length * maxRepetition)
  const spans: Span[] = []
  let characters = 0
  let turnEnds = performance.now() + turnMs
  for (const span of chunker.chunk(read.text.slice(read.start), options)) {
    characters += span.end - span.start
    if (spans.length === maxChunks)
      throw tooLarge(`The document would become more than ${maxChunks} chunks; use a larger chunk_size.`)
    if (characters > budget)
      throw tooLarge('The chunks would repeat the document too often; use a smaller chunk_overlap.')
    spans.push({
      ...span,
      start: span.start + read.start,
      end: span.end + read.start,
      lineStart: span.lineStart + linesBefore,
      lineEnd: span.lineEnd + linesBefore,
    })
    if (performance.now() > turnEnds) {
      await nextTurn(undefined, { signal })
      turnEnds = performance.now() + turnMs
    }
  }
  return spans
}

function tooLarge(message: string): AppError {
  return new AppError('payload_too_large', message, { details: [{ path: 'chunk_size', message }] })
}

/** What an embedder sees of a chunk: its headings, which say what it is about, and its text. */
export function textToEmbed(chunk: Pick<StoredChunk, 'content' | 'headingPath'>): string {
  return chunk.headingPath.length === 0 ? chunk.content : `${chunk.headingPath.join(' > ')}\n${chunk.content}`
}

/** A chunk and its neighbours, in order, as one stretch of text without what they repeat of each other. */
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
