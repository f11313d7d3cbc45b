import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { createId } from '../../core/id.ts'
import type { Collection, DocumentStore, NewGeneration, StoredDocument } from '../../core/knowledge/document-store.ts'
import type { Embedders, PreparedDocument, PrepareRequest, Preparer } from '../../core/knowledge/drivers.ts'
import type { IngestInput, IngestResult } from '../../core/knowledge/knowledge.ts'
import { type Clock, timestamp } from '../../core/time.ts'
import type { Commits } from './commit.ts'
import type { IngestSettings } from './input.ts'
import { embeddingsOf } from './vectors/index-document.ts'

export interface IngestDrivers {
  documents: DocumentStore
  embedders: Embedders
  preparer: Preparer
  clock: Clock
  commits: Commits
}

export type DocumentSettings = IngestSettings & { source: string; hash: string }

export function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

export interface FoundDocument {
  collection: Collection | undefined
  previous: StoredDocument | undefined
}

type Find = (collection: string, source: string) => Promise<FoundDocument>

/** Finds stored documents; look-ups of the same moment share a query. */
export function createFind(documents: DocumentStore): Find {
  let asked: { collection: string; source: string; found: PromiseWithResolvers<FoundDocument> }[] = []
  const lookUp = async () => {
    const all = asked
    asked = []
    for (const [name, group] of Map.groupBy(all, (each) => each.collection)) {
      try {
        const collection = await documents.findCollection(name)
        const sources = group.map(({ source }) => source)
        const known = collection && (await documents.findBySources(collection.key, sources))
        for (const { source, found } of group) found.resolve({ collection, previous: known?.get(source) })
      } catch (error) {
        for (const { found } of group) found.reject(error)
      }
    }
  }
  return (collection, source) => {
    if (asked.length === 0) setImmediate(() => void lookUp())
    const found = Promise.withResolvers<FoundDocument>()
    asked.push({ collection, source, found })
    return found.promise
  }
}

export function isUnchanged(previous: StoredDocument, settings: DocumentSettings): boolean {
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

/** Ingests one document. Vectors are written before its generation is current: no search finds half a document. */
export async function ingestDocument(
  drivers: IngestDrivers,
  content: IngestInput['content'],
  settings: DocumentSettings,
  { collection, previous }: FoundDocument,
  { signal, caller }: { signal: AbortSignal; caller: string },
): Promise<IngestResult> {
  const now = drivers.clock()
  const request = await toRequest(drivers, settings, collection, now, caller)
  let done: IngestResult | undefined
  const { documentId, replaced } = await drivers.commits.add(async () => {
    const prepared = await drivers.preparer.prepare({ content, ...request }, signal)
    const document = toDocument(prepared, settings, previous, now)
    done = result({ ...document, collection: settings.collection }, prepared.chunkIds, previous !== undefined)
    return { collection: settings.collection, document, prepared, signal }
  })
  // Another server may have added or deleted it meanwhile.
  return { ...(done as IngestResult), document_id: documentId, replaced: replaced !== undefined }
}

export async function toRequest(
  { embedders }: Pick<IngestDrivers, 'embedders'>,
  settings: DocumentSettings,
  known: Collection | undefined,
  now: number,
  caller: string,
): Promise<Omit<PrepareRequest, 'content'>> {
  const { source, chunker, size, overlap, collection } = settings
  const embeddings = embeddingsOf(embedders, known?.embedding ?? (await embedders.resolve()))
  const [name, mediaType] = [settings.name ?? undefined, settings.mediaType ?? undefined]
  return { name, mediaType, source, caller, chunker, size, overlap, collection, now, embeddings }
}

export function toDocument(
  prepared: PreparedDocument,
  settings: DocumentSettings,
  previous: StoredDocument | undefined,
  now: number,
): Omit<NewGeneration, 'generation'> {
  return {
    document_id: previous?.document_id ?? createId('doc', now),
    source: settings.source,
    name: settings.name,
    media_type: settings.mediaType,
    metadata: settings.metadata,
    reader_metadata: {
      ...prepared.metadata,
      suggested_chunker: prepared.suggestedChunker,
      chunk_size: settings.size,
      chunk_overlap: settings.overlap,
    },
    content_hash: settings.hash,
    chunk_count: prepared.chunkIds.length,
    chunk_size: settings.size,
    chunk_overlap: settings.overlap,
    chunker_type: prepared.chunker,
    updated_at: timestamp(now),
  }
}

export function result(
  document: Pick<
    StoredDocument,
    'document_id' | 'chunk_count' | 'chunker_type' | 'chunk_size' | 'chunk_overlap' | 'collection'
  >,
  chunkIds: string[],
  replaced: boolean,
  unchanged = false,
): IngestResult {
  const { document_id, chunk_count, chunker_type, chunk_size, chunk_overlap, collection } = document
  return {
    document_id,
    chunk_ids: chunkIds,
    chunk_count,
    chunker_type,
    chunk_size,
    chunk_overlap,
    collection,
    replaced,
    unchanged,
  }
}
