import { AppError, invalid } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import { type ChunkRows, chunkRows, type NewChunk, type StoredChunk } from '../../core/knowledge/chunk.ts'
import type {
  ChunkOptions,
  Embedding,
  OpenSections,
  PartBefore,
  PreparedDocument,
  PrepareRequest,
  Readers,
  ReadText,
} from '../../core/knowledge/drivers.ts'
import { unreadable } from '../../core/knowledge/filter.ts'
import { toHalves } from '../../core/knowledge/half-float.ts'
import { textToEmbed } from '../../core/knowledge/text-to-embed.ts'
import { chunkers } from '../chunkers/all.ts'
import { chunkDocument, type DocumentSpan } from '../chunkers/document.ts'
import { lexicalEmbedding, wordsEmbedder } from '../embedders/lexical.ts'
import { shippedTable, staticEmbedding, tokensEmbedder } from '../embedders/static.ts'
import type { StaticTable } from '../embedders/static-table.ts'
import { readers, readTextPart } from '../readers/all.ts'
import { createTextWords } from '../words/text-words.ts'
import { createNumberSet, createVocabulary, type NumberSet } from '../words/vocabulary.ts'

const maxChunks = 50_000
/** Of a document that is read in parts. */
const maxChunksOfParts = 500_000
const chunksPerRow = 1_000
/** How many times its text the chunks may hold, because of overlap; small texts are exempt. */
const maxRepetition = 25
const freeCharacters = 1_000_000

/** Prepares documents on the calling thread; remembers the words that it has returned for each collection. */
export function createPreparing() {
  const vocabulary = createVocabulary()
  const text = createTextWords(vocabulary)
  const embedWords = wordsEmbedder(vocabulary)
  const ofWords = new Float32Array(lexicalEmbedding.dimensions)
  const brought = new Map<string, NumberSet>()
  let table: StaticTable | undefined
  let embedTokens: ReturnType<typeof tokensEmbedder> | undefined

  const broughtTo = (collection: string): NumberSet => {
    const set = brought.get(collection) ?? createNumberSet(vocabulary)
    brought.set(collection, set)
    return set
  }

  return {
    forgetWords: () => brought.clear(),
    close: () => readers.close(),
    async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedDocument> {
      const read = request.part ? await readPart(request, request.part) : await readers.read(toRead(request, signal))
      const before = request.part?.before ?? beforeAll
      const open = structuredClone(before.open)
      const isBlank = read.text.slice(read.start).trim() === ''
      if (request.part === undefined && isBlank) throw blank(read, request)
      const chunker = request.chunker ?? read.chunker
      const spans = isBlank ? [] : cut(read, chunker, { ...request, open })
      if (before.chunks + spans.length > maxChunksOfParts) throw tooMany(maxChunksOfParts)
      const chunks = spans.map((span, index) => toChunk(read, span, index, request.now, before))
      const wanted = request.embeddings.filter(isBuiltIn)
      if (embedTokens === undefined && wanted.some(({ provider }) => provider === staticEmbedding.provider)) {
        table = await shippedTable()
        embedTokens = tokensEmbedder(table)
      }
      const vectors = new Map(
        wanted.map(({ provider, dimensions }) => [provider, new Uint16Array(chunks.length * dimensions)]),
      )
      const lexical = vectors.get(lexicalEmbedding.provider)
      const learned = vectors.get(staticEmbedding.provider)
      const known = broughtTo(request.collection)
      const newWords: string[] = []
      const rows: ChunkRows[] = []
      let part: NewChunk[] = []
      // Leaves nothing of a document that failed.
      text.take()
      for (const [at, chunk] of chunks.entries()) {
        text.begin()
        const headingWordsBytes = text.add(chunk.headingPath.join(' '))
        const wordsBytes = text.add(chunk.content)
        const words = text.words()
        for (let index = 0; index < words.length; index++) {
          const number = words.numbers[index] as number
          if (known.add(number)) newWords.push(vocabulary.wordOf(number))
        }
        if (lexical) toHalves(embedWords(words, ofWords), lexical, at * lexicalEmbedding.dimensions)
        if (learned && table && embedTokens)
          toHalves(embedTokens(text.tokens(table.tokens.of)), learned, at * staticEmbedding.dimensions)
        if (part.push({ ...chunk, wordsBytes, headingWordsBytes }) < chunksPerRow && at < chunks.length - 1) continue
        rows.push(chunkRows(part, text.take()))
        part = []
      }
      return {
        metadata: read.metadata,
        suggestedChunker: read.chunker,
        chunker,
        chunkIds: chunks.map((chunk) => chunk.id),
        rows,
        newWords,
        vectors,
        texts: wanted.length === request.embeddings.length ? undefined : chunks.map(textToEmbed),
        after: request.part && afterPart(read, before, chunks.length, open),
      }
    },
  }
}

function isBuiltIn({ provider, model }: Embedding): boolean {
  return [lexicalEmbedding, staticEmbedding].some((each) => each.provider === provider && each.model === model)
}

/** The chunks of a text, with positions in the whole text. Throws `payload_too_large` when there would be too many. */
function cut(read: ReadText, name: PreparedDocument['chunker'], { size, overlap, open }: ChunkOptions): DocumentSpan[] {
  const chunker = chunkers.find((each) => each.name === name)
  if (!chunker) throw invalid(`there is no chunker '${name}'`, 'chunker_type')
  const budget = Math.max(freeCharacters, read.text.length * maxRepetition)
  const spans: DocumentSpan[] = []
  let characters = 0
  for (const span of chunkDocument(read, chunker, { size, overlap, open })) {
    characters += span.end - span.start
    if (spans.length === maxChunks) throw tooMany(maxChunks)
    if (characters > budget) throw tooLarge('The chunks would overlap too much. Use a smaller chunk_overlap.')
    spans.push(span)
  }
  return spans
}

type Chunk = Omit<StoredChunk, 'key'>

function toChunk(read: ReadText, span: DocumentSpan, index: number, now: number, before: PartBefore): Chunk {
  return {
    id: createId('chk', now),
    index: before.chunks + index,
    content: read.text.slice(span.start, span.end),
    headingPath: span.headingPath ?? [],
    startOffset: before.offset + span.start,
    endOffset: before.offset + span.end,
    lineStart: before.lines + span.lineStart,
    lineEnd: before.lines + span.lineEnd,
    page: span.page,
  }
}

const beforeAll: PartBefore = { chunks: 0, offset: 0, lines: 0, reading: {}, open: { path: [] } }

function toRead(
  { content, name, source, mediaType }: PrepareRequest,
  signal: AbortSignal,
): Parameters<Readers['read']>[0] {
  return { content, name: name ?? source, mediaType, signal }
}

function readPart(
  { content, name, source, mediaType }: PrepareRequest,
  { before, encoding }: NonNullable<PrepareRequest['part']>,
): Promise<ReadText> {
  return readTextPart(String(content), { name: name ?? source, mediaType, encoding, before: before?.reading })
}

function afterPart(read: ReadText, before: PartBefore, chunks: number, open: OpenSections): PartBefore {
  return {
    chunks: before.chunks + chunks,
    offset: before.offset + read.text.length,
    lines: before.lines + (read.lines ?? read.text.split('\n').length - 1),
    reading: read.reading ?? {},
    open,
  }
}

function blank(read: ReadText, { name, source }: PrepareRequest): AppError {
  if (read.text.trim() === '') return invalid(`${name ?? source} must not be empty.`, 'content')
  return unreadable(source, 'it has no text besides its front matter')
}

function tooMany(chunks: number): AppError {
  return tooLarge(`The document would become more than ${chunks} chunks. Use a larger chunk_size.`)
}

function tooLarge(message: string): AppError {
  return new AppError('payload_too_large', message, { details: [{ path: 'chunk_size', message }] })
}
