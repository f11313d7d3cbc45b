import type { JsonObject } from '../../core/json.ts'
import type { IngestInput, SearchQuery } from '../../core/knowledge/knowledge.ts'
import { defaultChunkOverlap } from '../../core/knowledge/limits.ts'
import { collectionSetting, ingestSettings, searchSettings } from '../../schema/knowledge.ts'
import { checkRequest, withoutNulls, wrongRequest } from '../../schema/request.ts'

export interface ChunkDefaults {
  chunkSize?: number | undefined
  chunkOverlap?: number | undefined
}

export function assertContent(content: unknown): asserts content is IngestInput['content'] {
  const isContent = typeof content === 'string' || content instanceof Uint8Array
  if (isContent && content.length > 0) return
  throw wrongRequest([{ path: 'content', message: isContent ? 'must not be empty' : 'must be text or bytes' }])
}

export type IngestSettings = ReturnType<typeof parseIngest>

/** Throws `invalid_request` with the paths of the fields that are wrong. */
export function parseIngest(input: Omit<IngestInput, 'content'>, collection: string, configured: ChunkDefaults) {
  const given = withoutNulls(input)
  const size = given.chunk_size ?? configured.chunkSize
  const overlap = given.chunk_overlap ?? (given.chunk_size === undefined ? configured.chunkOverlap : undefined)
  const settings = checkRequest(ingestSettings, { ...given, chunk_size: size, chunk_overlap: overlap })
  return {
    name: clean(settings.name) ?? null,
    mediaType: clean(settings.media_type) ?? null,
    source: clean(settings.source),
    metadata: JSON.parse(JSON.stringify(settings.metadata ?? {})) as JsonObject,
    chunker: settings.chunker_type,
    size: settings.chunk_size,
    overlap: settings.chunk_overlap ?? defaultChunkOverlap(settings.chunk_size),
    collection: settings.collection ?? collection,
  }
}

export type SearchSettings = ReturnType<typeof parseSearch>

export function parseSearch(query: SearchQuery, collection: string) {
  const settings = checkRequest(searchSettings, withoutNulls(query))
  return {
    ...settings,
    query: settings.query.toWellFormed(),
    context: settings.context ?? 0,
    trace: query.trace === true,
    mode: settings.mode ?? 'hybrid',
    filters: settings.filters ?? {},
    collection: settings.collection ?? collection,
    /** The caller named the collection, so it must be there. */
    named: settings.collection !== undefined && settings.collection !== collection,
  }
}

export function collectionName(collection: string | undefined, fallback: string): string {
  return checkRequest(collectionSetting, { collection }).collection ?? fallback
}

function clean(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll('\0', '\ufffd')
}
