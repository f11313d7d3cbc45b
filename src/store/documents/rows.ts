import type { Json, JsonObject } from '../../core/json.ts'
import type { StoredChunk } from '../../core/knowledge/chunk.ts'
import type { Collection, CurrentChunk, StoredDocument } from '../../core/knowledge/drivers.ts'
import type { ChunkerType } from '../../core/knowledge/knowledge.ts'
import type { SqlRow } from '../sqlite/connection.ts'

const text = (value: unknown) => String(value)
const json = <T extends Json>(value: unknown) => JSON.parse(String(value)) as T

export function toCollection(row: SqlRow): Collection {
  return {
    key: Number(row.collection_key),
    name: text(row.collection_name),
    embedding: {
      provider: text(row.embedding_provider),
      model: text(row.embedding_model),
      dimensions: Number(row.embedding_dimensions),
    },
    version: Number(row.embedding_version),
  }
}

export function toChunk(row: SqlRow): StoredChunk {
  return {
    key: Number(row.chunk_key),
    id: text(row.chunk_id),
    index: Number(row.chunk_index),
    content: text(row.content),
    headingPath: json<string[]>(row.heading_path),
    startOffset: Number(row.start_offset),
    endOffset: Number(row.end_offset),
    lineStart: Number(row.line_start),
    lineEnd: Number(row.line_end),
    ...(row.page === null ? {} : { page: Number(row.page) }),
  }
}

export function toCurrentChunk(row: SqlRow): CurrentChunk {
  return {
    ...toChunk(row),
    generation: Number(row.generation),
    documentId: text(row.document_id),
    source: text(row.source),
    metadata: json<JsonObject>(row.metadata),
    chunkSize: Number(row.chunk_size),
    chunkOverlap: Number(row.chunk_overlap),
    chunkerType: text(row.chunker_type) as ChunkerType,
  }
}

export function toDocument(row: SqlRow): StoredDocument {
  const orNull = (value: unknown) => (value === null ? null : text(value))
  return {
    document_id: text(row.document_id),
    source: text(row.source),
    name: orNull(row.document_name),
    media_type: orNull(row.media_type),
    metadata: json<JsonObject>(row.metadata),
    reader_metadata: json<JsonObject>(row.reader_metadata),
    content_hash: text(row.content_hash),
    chunk_count: Number(row.chunk_count),
    chunk_size: Number(row.chunk_size),
    chunk_overlap: Number(row.chunk_overlap),
    chunker_type: text(row.chunker_type) as ChunkerType,
    collection: text(row.collection_name),
    created_at: text(row.created_at),
    updated_at: text(row.updated_at),
    generation: Number(row.generation),
  }
}
