import type { StoredChunk } from '../../core/knowledge/chunk.ts'
import type { ChunkPlace, Collection, CurrentChunk, StoredDocument } from '../../core/knowledge/document-store.ts'
import type { ChunkerType } from '../../core/knowledge/knowledge.ts'
import type { ChunkRow, CollectionRow, DocumentRow } from './schema.ts'

export function toCollection(row: CollectionRow): Collection {
  return {
    key: row.collection_key,
    name: row.collection_name,
    embedding: {
      provider: row.embedding_provider,
      model: row.embedding_model,
      dimensions: row.embedding_dimensions,
    },
    version: row.embedding_version,
  }
}

export function toChunk(row: ChunkRow): StoredChunk {
  return {
    key: row.chunk_key,
    id: row.chunk_id,
    index: row.chunk_index,
    content: row.content,
    headingPath: JSON.parse(row.heading_path),
    startOffset: row.start_offset,
    endOffset: row.end_offset,
    lineStart: row.line_start,
    lineEnd: row.line_end,
    ...(row.page === null ? {} : { page: row.page }),
  }
}

export function toCurrentChunk(row: ChunkRow & DocumentRow): CurrentChunk {
  return {
    ...toChunk(row),
    generation: row.generation,
    documentId: row.document_id,
    source: row.source,
    metadata: JSON.parse(row.metadata),
    chunkSize: row.chunk_size,
    chunkOverlap: row.chunk_overlap,
    chunkerType: row.chunker_type as ChunkerType,
  }
}

export type PlaceRow = Pick<ChunkRow, 'chunk_key' | 'chunk_id' | 'line_start' | 'line_end' | 'page' | 'heading_path'> &
  Pick<DocumentRow, 'document_id' | 'source'>

export function toPlace({ chunk_key: key, page, heading_path: path, ...place }: PlaceRow): ChunkPlace {
  return { key, ...place, headingPath: JSON.parse(path), ...(page === null ? {} : { page }) }
}

export function toDocument(row: DocumentRow & Pick<CollectionRow, 'collection_name'>): StoredDocument {
  return {
    document_id: row.document_id,
    source: row.source,
    name: row.document_name,
    media_type: row.media_type,
    metadata: JSON.parse(row.metadata),
    reader_metadata: JSON.parse(row.reader_metadata),
    content_hash: row.content_hash,
    chunk_count: row.chunk_count,
    chunk_size: row.chunk_size,
    chunk_overlap: row.chunk_overlap,
    chunker_type: row.chunker_type as ChunkerType,
    collection: row.collection_name,
    created_at: row.created_at,
    updated_at: row.updated_at,
    generation: row.generation,
  }
}
