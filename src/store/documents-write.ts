import type { NewGeneration, StoredChunk } from '../core/knowledge-drivers.ts'
import type { Connection } from './documents-connection.ts'
import { removeFromIndex, writeIndex } from './documents-index.ts'

/** Writes the chunks of a generation and their index; `index` is what `indexRows` made of them. */
export async function insertChunks(
  connection: Connection,
  collection: number,
  generation: number,
  chunks: readonly StoredChunk[],
  index: string,
): Promise<void> {
  if (chunks.length === 0) return
  await connection.run(
    `INSERT INTO chunk (chunk_key, chunk_id, chunk_collection, chunk_generation, chunk_index, content, heading_path,
       start_offset, end_offset, line_start, line_end)
     SELECT value ->> 0, value ->> 1, ?, ?, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7, value ->> 8 FROM json_each(?)`,
    [
      collection,
      generation,
      JSON.stringify(
        chunks.map((chunk) => [
          chunk.key,
          chunk.id,
          chunk.index,
          chunk.content,
          JSON.stringify(chunk.headingPath),
          chunk.startOffset,
          chunk.endOffset,
          chunk.lineStart,
          chunk.lineEnd,
        ]),
      ),
    ],
  )
  await writeIndex(connection, collection, index)
}

const sweepBatch = 200

/** Removes some of the chunks of a generation, unless it is current; 0 when there are none left. */
export async function removeChunks(connection: Connection, generation: number): Promise<number> {
  const rows = await connection.all(
    `SELECT chunk_key, chunk_collection FROM chunk WHERE chunk_generation = ?
       AND NOT EXISTS (SELECT 1 FROM document WHERE document.generation = chunk_generation) LIMIT ${sweepBatch}`,
    [generation],
  )
  const keys = rows.map((row) => Number(row.chunk_key))
  const collection = rows[0]?.chunk_collection
  if (collection === undefined) return 0
  await removeFromIndex(connection, Number(collection), keys)
  await connection.run('DELETE FROM chunk WHERE chunk_key IN (SELECT value FROM json_each(?))', [JSON.stringify(keys)])
  return keys.length
}

/** Makes a generation the current one of its collection and source. */
export async function upsertDocument(
  connection: Connection,
  collection: number,
  document: NewGeneration,
): Promise<void> {
  await connection.run(
    `INSERT INTO document (document_id, document_collection, generation, source, document_name, media_type, metadata,
       reader_metadata, content_hash, chunk_count, chunk_size, chunk_overlap, chunker_type, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14)
     ON CONFLICT (document_collection, source) DO UPDATE SET generation = excluded.generation,
       document_name = excluded.document_name, media_type = excluded.media_type, metadata = excluded.metadata,
       reader_metadata = excluded.reader_metadata, content_hash = excluded.content_hash,
       chunk_count = excluded.chunk_count, chunk_size = excluded.chunk_size, chunk_overlap = excluded.chunk_overlap,
       chunker_type = excluded.chunker_type, updated_at = excluded.updated_at`,
    [
      document.document_id,
      collection,
      document.generation,
      document.source,
      document.name,
      document.media_type,
      JSON.stringify(document.metadata),
      JSON.stringify(document.reader_metadata),
      document.content_hash,
      document.chunk_count,
      document.chunk_size,
      document.chunk_overlap,
      document.chunker_type,
      document.updated_at,
    ],
  )
}
