import { invalid } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { assertFilters } from '../../core/knowledge/filter.ts'
import {
  type ChunkerType,
  chunkerTypes,
  type Filters,
  type IngestInput,
  type SearchMode,
  type SearchQuery,
  searchModes,
} from '../../core/knowledge/knowledge.ts'

export const limits = { chunkSize: 20_000, search: 100, context: 5, name: 1_024, query: 10_000, metadata: 100_000 }
export const defaults = { chunkSize: 1_000, chunkOverlap: 100, search: 10 }

export interface IngestSettings {
  name: string | null
  mediaType: string | null
  source: string | undefined
  metadata: JsonObject
  chunker: ChunkerType | undefined
  size: number
  overlap: number
  collection: string
}

export interface ChunkDefaults {
  chunkSize?: number | undefined
  chunkOverlap?: number | undefined
}

export function assertContent(content: unknown): asserts content is IngestInput['content'] {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) throw invalid('must be text or bytes', 'content')
  if (content.length === 0) throw invalid('must not be empty', 'content')
}

/** Throws `invalid_request` with the path of the first field that is wrong. */
export function parseIngest(
  input: Omit<IngestInput, 'content'>,
  collection: string,
  configured: ChunkDefaults,
): IngestSettings {
  const size = integer(
    input.chunk_size ?? configured.chunkSize ?? defaults.chunkSize,
    1,
    limits.chunkSize,
    'chunk_size',
  )
  const wanted = input.chunk_overlap ?? (input.chunk_size === undefined ? configured.chunkOverlap : undefined)
  const overlap = wanted ?? Math.min(defaults.chunkOverlap, Math.floor(size / 10))
  if (!Number.isSafeInteger(overlap) || overlap < 0 || overlap >= size)
    throw invalid(`must be a whole number from 0 to ${size - 1} (less than chunk_size)`, 'chunk_overlap')
  return {
    name: text(input.name, 'name') ?? null,
    mediaType: text(input.media_type, 'media_type') ?? null,
    source: text(input.source, 'source'),
    metadata: metadataOf(input.metadata),
    chunker: oneOf(input.chunker_type, chunkerTypes, 'chunker_type'),
    size,
    overlap,
    collection: collectionName(input.collection, collection),
  }
}

export interface SearchSettings {
  query: string
  limit: number
  context: number
  mode: SearchMode
  filters: Filters
  collection: string
  /** The caller named the collection, so it must be there. */
  named: boolean
  explain: boolean
}

export function parseSearch(query: SearchQuery, collection: string): SearchSettings {
  if (typeof query.query !== 'string' || query.query.trim() === '') throw invalid('must not be empty', 'query')
  if (query.query.length > limits.query) throw invalid(`at most ${limits.query} characters`, 'query')
  const filters = query.filters ?? {}
  assertFilters(filters)
  return {
    query: query.query.toWellFormed(),
    limit: integer(query.limit ?? defaults.search, 1, limits.search, 'limit'),
    context: integer(query.context ?? 0, 0, limits.context, 'context'),
    mode: oneOf(query.mode, searchModes, 'mode') ?? 'hybrid',
    filters,
    collection: collectionName(query.collection, collection),
    named: query.collection !== undefined && query.collection !== collection,
    explain: query.explain === true,
  }
}

export function collectionName(value: unknown, fallback: string): string {
  if (value === undefined) return fallback
  if (typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value)) return value
  throw invalid('must be 1–64 letters, digits, ., - and _, beginning with a letter or digit', 'collection')
}

function integer(value: number, least: number, most: number, path: string): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw invalid(`must be a whole number from ${least} to ${most}`, path)
}

function text(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid('must be text', path)
  if (value.trim() === '' || value.length > limits.name) throw invalid(`must have 1 to ${limits.name} characters`, path)
  return value.toWellFormed().replaceAll('\0', '\ufffd')
}

function oneOf<T extends string>(value: T | undefined, allowed: readonly T[], path: string): T | undefined {
  if (value === undefined || allowed.includes(value)) return value
  throw invalid(`must be one of ${allowed.join(', ')}`, path)
}

function metadataOf(value: unknown): JsonObject {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('must be an object', 'metadata')
  const json = JSON.stringify(value)
  if (json.length > limits.metadata) throw invalid(`at most ${limits.metadata} characters of JSON`, 'metadata')
  return JSON.parse(json) as JsonObject
}
