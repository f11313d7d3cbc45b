import { AppError, invalid } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import { type ChunkWords, chunkRows, type StoredChunk } from '../../core/knowledge/chunk.ts'
import type { ChunkOptions, PreparedDocument, PrepareRequest, ReadText } from '../../core/knowledge/drivers.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import { textToEmbed } from '../../core/knowledge/text-to-embed.ts'
import { wordsOf } from '../../core/text/terms.ts'
import { inParts } from '../../runtime/batches.ts'
import { chunkers } from '../chunkers/all.ts'
import { chunkDocument, type DocumentSpan } from '../chunkers/document.ts'
import { lexicalEmbedding, wordsEmbedder } from '../embedders/lexical.ts'
import { readers } from '../readers/all.ts'
import { toHalves } from '../vectors/half-float.ts'
import { createNumberSet, createVocabulary, type NumberSet } from '../words/vocabulary.ts'

const maxChunks = 50_000
const chunksPerRow = 1_000
/** How many times its text the chunks may hold, because of overlap; small texts are exempt. */
const maxRepetition = 25
const freeCharacters = 1_000_000

/** Prepares documents on the calling thread; remembers the words that it has returned for each collection. */
export function createPreparing() {
  const vocabulary = createVocabulary()
  const embedWords = wordsEmbedder(vocabulary)
  const brought = new Map<string, NumberSet>()

  const broughtTo = (collection: string): NumberSet => {
    const set = brought.get(collection) ?? createNumberSet(vocabulary)
    brought.set(collection, set)
    return set
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
      if (read.text.trim() === '') throw invalid(`${request.name ?? source} must not be empty.`, 'content')
      if (read.text.slice(read.start).trim() === '') throw unreadable(source, 'it has no text besides its front matter')
      const chunker = request.chunker ?? read.chunker
      const chunks = cut(read, chunker, request).map((span, index) => toChunk(read, span, index, request.now))
      const { provider, model, dimensions } = request.embedding
      const builtIn = provider === lexicalEmbedding.provider && model === lexicalEmbedding.model
      const vectors = builtIn ? new Uint16Array(chunks.length * dimensions) : undefined
      const known = broughtTo(request.collection)
      const newWords: string[] = []
      const rows: ChunkRow[] = []
      for (const [at, chunk] of chunks.entries()) {
        const headingWords = wordsOf(chunk.headingPath.join(' '))
        const words = wordsOf(chunk.content)
        const all = [...headingWords, ...words]
        const numbers = vocabulary.numbersOf(all)
        for (let index = 0; index < all.length; index++)
          if (known.add(numbers[index] as number)) newWords.push(all[index] as string)
        if (vectors) toHalves(embedWords(all, numbers), vectors, at * dimensions)
        rows.push({ ...chunk, words: words.join(' '), headingWords: headingWords.join(' ') })
      }
      return {
        metadata: read.metadata,
        suggestedChunker: read.chunker,
        chunker,
        chunkIds: chunks.map((chunk) => chunk.id),
        rows: inParts(rows, chunksPerRow, () => 1).map(chunkRows),
        newWords,
        vectors,
        texts: builtIn ? undefined : chunks.map(textToEmbed),
      }
    },
  }
}

/** The chunks of a text, with positions in the whole text. Throws `payload_too_large` when there would be too many. */
function cut(read: ReadText, name: PreparedDocument['chunker'], { size, overlap }: ChunkOptions): DocumentSpan[] {
  const chunker = chunkers.find((each) => each.name === name)
  if (!chunker) throw invalid(`there is no chunker '${name}'`, 'chunker_type')
  const budget = Math.max(freeCharacters, read.text.length * maxRepetition)
  const spans: DocumentSpan[] = []
  let characters = 0
  for (const span of chunkDocument(read, chunker, { size, overlap })) {
    characters += span.end - span.start
    if (spans.length === maxChunks)
      throw tooLarge(`The document would become more than ${maxChunks} chunks. Use a larger chunk_size.`)
    if (characters > budget) throw tooLarge('The chunks would overlap too much. Use a smaller chunk_overlap.')
    spans.push(span)
  }
  return spans
}

type Chunk = Omit<StoredChunk, 'key'>
type ChunkRow = Chunk & ChunkWords

function toChunk(read: ReadText, span: DocumentSpan, index: number, now: number): Chunk {
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

function tooLarge(message: string): AppError {
  return new AppError('payload_too_large', message, { details: [{ path: 'chunk_size', message }] })
}
