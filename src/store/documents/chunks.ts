import { notFound } from '../../core/error.ts'
import type { CurrentChunk } from '../../core/knowledge/document-store.ts'
import type { Connection } from '../sqlite/connection.ts'
import { toCurrentChunk } from './rows.ts'
import type { ChunkRow, DocumentRow } from './schema.ts'

/** The chunks of `near` whose `sum` of bytes fits, or whose `place` is 0. Texts are read of these only. */
const selectFitting = `SELECT chunk.*, document.* FROM near CROSS JOIN chunk ON chunk.chunk_key = near.found
  CROSS JOIN document ON document.generation = chunk.chunk_generation WHERE near.sum <= ? OR near.place = 0
  ORDER BY chunk.chunk_index`
/** What an answer has of a chunk that can be long. */
const bytes = 'octet_length(chunk.content) + octet_length(chunk.heading_path) + octet_length(document.metadata)'

const selectAround = `WITH near AS (
    SELECT chunk.chunk_key AS found, abs(chunk.chunk_index - wanted.chunk_index) AS place,
      sum(${bytes}) OVER (ORDER BY abs(chunk.chunk_index - wanted.chunk_index), chunk.chunk_index) AS sum
    FROM chunk AS wanted CROSS JOIN document ON document.generation = wanted.chunk_generation
    CROSS JOIN chunk ON chunk.chunk_generation = wanted.chunk_generation
      AND chunk.chunk_index BETWEEN wanted.chunk_index - ?2 AND wanted.chunk_index + ?2
    WHERE wanted.chunk_id = ?1)
  ${selectFitting.replace('?', '?3')}`

const selectFrom = `WITH near AS (
    SELECT found, place, sum(bytes) OVER (ORDER BY place) AS sum FROM (
      SELECT chunk.chunk_key AS found, chunk.chunk_index - ?2 AS place, ${bytes} AS bytes
      FROM document CROSS JOIN chunk ON chunk.chunk_generation = document.generation
      WHERE document.generation = ?1 AND chunk.chunk_index >= ?2 ORDER BY chunk.chunk_index LIMIT ?3))
  ${selectFitting.replace('?', '?4')}`

/** The chunk and so many before and after it as fit, in order. Throws `chunk_not_found`. */
export async function chunksAround(connection: Connection, id: string, count: number, maxBytes: number) {
  const chunks = await select(connection, selectAround, [id, count, maxBytes])
  if (chunks.length === 0) throw notFound('chunk', id)
  return chunks
}

/** The next chunks of a current generation, as many as fit and at least one; none of another generation. */
export function chunksFrom(
  connection: Connection,
  generation: number,
  from: number,
  limit: number,
  maxBytes: number,
): Promise<CurrentChunk[]> {
  return select(connection, selectFrom, [generation, from, limit, maxBytes])
}

async function select(connection: Connection, sql: string, parameters: (string | number)[]): Promise<CurrentChunk[]> {
  return (await connection.all<ChunkRow & DocumentRow>(sql, parameters)).map(toCurrentChunk)
}
