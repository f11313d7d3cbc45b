import type { StoredChunk } from '../../../core/knowledge/chunk.ts'
import type { Collection, CurrentChunk, StoredDocument } from '../../../core/knowledge/document-store.ts'
import { type PlaceRow, toChunk, toCollection, toCurrentChunk, toDocument, toPlace } from '../rows.ts'
import type { ChunkRow, CollectionRow, DocumentRow } from '../schema.ts'
import { fromStored } from './stored-text.ts'

/* Rows as Postgres has them, in terms of the rows of SQLite. */

export type StoredChunkRow = Omit<ChunkRow, 'content'> & { content: Buffer }
export type StoredDocumentRow = DocumentRow & Pick<CollectionRow, 'collection_name'>

const withText = <Row extends { content: Buffer }>(row: Row) => ({ ...row, content: row.content.toString('utf8') })
const withSource = <Row extends { source: string }>(row: Row) => ({ ...row, source: fromStored(row.source) })

export const readCollection = (row: CollectionRow): Collection => toCollection(row)
export const readChunk = (row: StoredChunkRow): StoredChunk => toChunk(withText(row))
export const readCurrentChunk = (row: StoredChunkRow & DocumentRow): CurrentChunk =>
  toCurrentChunk(withText(withSource(row)))
export const readPlace = (row: PlaceRow) => toPlace(withSource(row))

export function readDocument(row: StoredDocumentRow): StoredDocument {
  const name = row.document_name
  return toDocument({
    ...withSource(row),
    document_name: name === null ? null : fromStored(name),
    media_type: row.media_type === null ? null : fromStored(row.media_type),
  })
}
