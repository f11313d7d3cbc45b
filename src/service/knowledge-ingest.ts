import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { invalid } from '../core/error.ts'
import { createId } from '../core/id.ts'
import type { IngestInput, IngestResult } from '../core/knowledge.ts'
import type {
  Chunker,
  Collection,
  DocumentStore,
  NewGeneration,
  Readers,
  ReadText,
  Span,
  StoredChunk,
  StoredDocument,
} from '../core/knowledge-drivers.ts'
import { unreadable } from '../core/knowledge-filter.ts'
import type { Logger } from '../core/logger.ts'
import { type Clock, timestamp } from '../core/time.ts'
import { chunkText, textToEmbed } from './knowledge-chunks.ts'
import type { CollectionIndex } from './knowledge-index.ts'
import type { IngestSettings } from './knowledge-input.ts'

const batchSize = 200

export interface IngestDrivers {
  documents: DocumentStore
  readers: Readers
  chunkers: readonly Chunker[]
  clock: Clock
  logger: Logger
  /** The collection's index, made with the collection when it is not there. */
  openCollection(name: string): Promise<CollectionIndex>
}

export function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/**
 * Reads, cuts, embeds and stores one document. Its vectors are written before its generation becomes current, so that
 * whoever finds the document finds all of it; when anything fails, what was written of it is removed.
 */
export async function ingestDocument(
  drivers: IngestDrivers,
  input: IngestInput,
  settings: IngestSettings & { source: string; hash: string },
  signal: AbortSignal,
): Promise<IngestResult> {
  const { documents } = drivers
  const known = await documents.findCollection(settings.collection)
  const previous = known && (await documents.findBySource(known.key, settings.source))
  if (previous && isUnchanged(previous, settings))
    return result(previous, await documents.chunkIds(previous.generation), { replaced: false, unchanged: true })

  const read = await drivers.readers.read({
    content: input.content,
    name: settings.name ?? settings.source,
    mediaType: settings.mediaType ?? undefined,
  })
  if (read.text.trim() === '') throw invalid('must not be empty', 'content')
  if (read.text.slice(read.start).trim() === '')
    throw unreadable(settings.source, 'it has no text besides its front matter')
  const chunkerType = settings.chunker ?? read.chunker
  const chunker = drivers.chunkers.find((each) => each.name === chunkerType)
  if (!chunker) throw invalid(`there is no chunker '${chunkerType}'`, 'chunker_type')
  const spans = await chunkText(read, chunker, settings, signal)
  const index = await drivers.openCollection(settings.collection)
  const { generation, firstChunk } = await documents.reserve(spans.length)
  const now = drivers.clock()
  const chunks = spans.map((span, at) => toChunk(read, span, at, firstChunk, now))
  const document = toGeneration(read, settings, previous, { generation, chunks: chunks.length, chunker, now })
  try {
    await write(documents, index, document, chunks, signal)
  } catch (error) {
    await remove(drivers, index, generation)
    throw error
  }
  if (previous) await remove(drivers, index, previous.generation)
  return result(
    { ...document, collection: settings.collection },
    chunks.map((chunk) => chunk.id),
    { replaced: previous !== undefined, unchanged: false },
  )
}

function isUnchanged(previous: StoredDocument, settings: IngestSettings & { hash: string }): boolean {
  return (
    previous.content_hash === settings.hash &&
    previous.name === settings.name &&
    previous.media_type === settings.mediaType &&
    previous.chunk_size === settings.size &&
    previous.chunk_overlap === settings.overlap &&
    previous.chunker_type === (settings.chunker ?? previous.reader_metadata.suggested_chunker) &&
    isDeepStrictEqual(previous.metadata, settings.metadata)
  )
}

function toChunk(read: ReadText, span: Span, index: number, firstKey: number, now: number): StoredChunk {
  return {
    key: firstKey + index,
    id: createId('chk', now),
    index,
    content: read.text.slice(span.start, span.end),
    headingPath: span.headingPath ?? [],
    startOffset: span.start,
    endOffset: span.end,
    lineStart: span.lineStart,
    lineEnd: span.lineEnd,
  }
}

function toGeneration(
  read: ReadText,
  settings: IngestSettings & { source: string; hash: string },
  previous: StoredDocument | undefined,
  made: { generation: number; chunks: number; chunker: Chunker; now: number },
): NewGeneration {
  return {
    document_id: previous?.document_id ?? createId('doc', made.now),
    generation: made.generation,
    source: settings.source,
    name: settings.name,
    media_type: settings.mediaType,
    metadata: settings.metadata,
    reader_metadata: {
      ...read.metadata,
      suggested_chunker: read.chunker,
      chunk_size: settings.size,
      chunk_overlap: settings.overlap,
    },
    content_hash: settings.hash,
    chunk_count: made.chunks,
    chunk_size: settings.size,
    chunk_overlap: settings.overlap,
    chunker_type: made.chunker.name,
    updated_at: timestamp(made.now),
  }
}

async function write(
  documents: DocumentStore,
  index: CollectionIndex,
  document: NewGeneration,
  chunks: readonly StoredChunk[],
  signal: AbortSignal,
): Promise<void> {
  const collection: Collection = index.collection
  for (let at = 0; at < chunks.length; at += batchSize) {
    const batch = chunks.slice(at, at + batchSize)
    const vectors = await index.embedder.embedTexts(batch.map(textToEmbed), signal)
    signal.throwIfAborted()
    await index.table.add(
      batch.map((chunk, place) => ({
        chunk: chunk.key,
        generation: document.generation,
        vector: vectors[place] ?? new Float32Array(0),
      })),
    )
    const last = at + batchSize >= chunks.length
    if (last) await documents.publish(collection.key, document, batch)
    else await documents.addChunks(collection.key, document.generation, batch)
  }
}

/** What is left over is never shown, and gone at the latest when the knowledge base is opened again. */
async function remove(drivers: IngestDrivers, index: CollectionIndex, generation: number): Promise<void> {
  try {
    await drivers.documents.sweep([generation])
    await index.table.removeGenerations([generation])
    index.missing.delete(generation)
  } catch (error) {
    drivers.logger.warn({ err: error, generation }, 'an old version of a document could not be removed yet')
  }
}

function result(
  document: Pick<
    StoredDocument,
    'document_id' | 'chunk_count' | 'chunker_type' | 'chunk_size' | 'chunk_overlap' | 'collection'
  >,
  chunkIds: string[],
  state: { replaced: boolean; unchanged: boolean },
): IngestResult {
  return {
    document_id: document.document_id,
    chunk_ids: chunkIds,
    chunk_count: document.chunk_count,
    chunker_type: document.chunker_type,
    chunk_size: document.chunk_size,
    chunk_overlap: document.chunk_overlap,
    collection: document.collection,
    ...state,
  }
}
