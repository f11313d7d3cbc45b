import { chunkRow } from '../../core/chunk-row.ts'
import { AppError, invalid } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type {
  ChunkOptions,
  PreparedDocument,
  PrepareRequest,
  ReadText,
  StoredChunk,
} from '../../core/knowledge-drivers.ts'
import { unreadable } from '../../core/knowledge-filter.ts'
import { wordsOf } from '../../core/terms.ts'
import { textToEmbed } from '../../core/text-to-embed.ts'
import { chunkers } from '../chunkers/all.ts'
import { chunkDocument, type DocumentSpan } from '../chunkers/document.ts'
import { lexicalEmbedder, lexicalEmbedding } from '../embedders/lexical.ts'
import { readers } from '../readers/all.ts'
import { createWordMemory, type WordMemory } from './word-memory.ts'

const maxChunks = 50_000
/** Overlap may repeat a text at most so often, and small texts as often as they like. */
const maxRepetition = 25
const freeCharacters = 1_000_000

/** Prepares documents on the thread that calls it; remembers the words that it has brought for each collection. */
export function createPreparing() {
  const embedder = lexicalEmbedder()
  const brought = new Map<string, WordMemory>()

  const memoryOf = (collection: string): WordMemory => {
    const memory = brought.get(collection) ?? createWordMemory()
    brought.set(collection, memory)
    return memory
  }

  return {
    forgetWords: () => brought.clear(),
    close: () => readers.close(),
    async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedDocument> {
      const { source } = request
      const read = await readers.read({
        content: request.content,
        name: request.name ?? source,
        mediaType: request.mediaType,
        signal,
      })
      if (read.text.trim() === '') throw invalid('must not be empty', 'content')
      if (read.text.slice(read.start).trim() === '') throw unreadable(source, 'it has no text besides its front matter')
      const chunker = request.chunker ?? read.chunker
      const chunks = cut(read, chunker, request).map((span, index) => toChunk(read, span, index, request.now))
      const words = chunks.map((chunk) => wordsOf(chunk.content).join(' '))
      const newWords: string[] = []
      for (const text of words) memoryOf(request.collection).fresh(text, newWords)
      const texts = chunks.map(textToEmbed)
      const { provider, model, dimensions } = request.embedding
      const builtIn = provider === lexicalEmbedding.provider && model === lexicalEmbedding.model
      const vectors = builtIn ? joined(await embedder.embedTexts(texts), dimensions) : undefined
      return {
        metadata: read.metadata,
        suggestedChunker: read.chunker,
        chunker,
        chunkIds: chunks.map((chunk) => chunk.id),
        rows: chunks.map((chunk, at) => chunkRow(chunk, words[at] ?? '')),
        newWords,
        vectors,
        texts: builtIn ? undefined : texts,
      }
    },
  }
}

/** The pieces of a text with places in the whole of it. Throws `payload_too_large` when there would be too many. */
function cut(read: ReadText, name: PreparedDocument['chunker'], { size, overlap }: ChunkOptions): DocumentSpan[] {
  const chunker = chunkers.find((each) => each.name === name)
  if (!chunker) throw invalid(`there is no chunker '${name}'`, 'chunker_type')
  const budget = Math.max(freeCharacters, read.text.length * maxRepetition)
  const spans: DocumentSpan[] = []
  let characters = 0
  for (const span of chunkDocument(read, chunker, { size, overlap })) {
    characters += span.end - span.start
    if (spans.length === maxChunks)
      throw tooLarge(`The document would become more than ${maxChunks} chunks; use a larger chunk_size.`)
    if (characters > budget)
      throw tooLarge('The chunks would repeat the document too often; use a smaller chunk_overlap.')
    spans.push(span)
  }
  return spans
}

function toChunk(read: ReadText, span: DocumentSpan, index: number, now: number): Omit<StoredChunk, 'key'> {
  return {
    id: createId('chk', now),
    index,
    content: read.text.slice(span.start, span.end),
    headingPath: span.headingPath ?? [],
    startOffset: span.start,
    endOffset: span.end,
    lineStart: span.lineStart,
    lineEnd: span.lineEnd,
    page: span.page,
  }
}

function joined(vectors: readonly Float32Array[], dimensions: number): Float32Array {
  const all = new Float32Array(vectors.length * dimensions)
  for (const [at, vector] of vectors.entries()) all.set(vector, at * dimensions)
  return all
}

function tooLarge(message: string): AppError {
  return new AppError('payload_too_large', message, { details: [{ path: 'chunk_size', message }] })
}
