import { notFound } from '../../../core/error.ts'
import type { StoredChunk } from '../../../core/knowledge/chunk.ts'
import type { ChunkPlace, CurrentChunk } from '../../../core/knowledge/document-store.ts'
import type { PlaceRow } from '../rows.ts'
import type { DocumentRow } from '../schema.ts'
import type { KnowledgeDatabase } from './database.ts'
import { readChunk, readCurrentChunk, readPlace, type StoredChunkRow } from './rows.ts'
import { toStored } from './stored-text.ts'

/** What an answer has of a chunk that can be long. */
const bytes = 'octet_length(chunk.content) + octet_length(chunk.heading_path) + octet_length(document.metadata)'

/** The chunks of `near` whose `sum` of bytes fits, or whose `place` is 0. Texts are read of these only. */
const fitting = `SELECT chunk.*, document.* FROM near JOIN chunk ON chunk.chunk_key = near.found
  JOIN document ON document.generation = chunk.chunk_generation WHERE near.sum <= $3 OR near.place = 0
  ORDER BY chunk.chunk_index`

const around = `WITH near AS (
    SELECT chunk.chunk_key AS found, abs(chunk.chunk_index - wanted.chunk_index) AS place,
      sum(${bytes}) OVER (ORDER BY abs(chunk.chunk_index - wanted.chunk_index), chunk.chunk_index) AS sum
    FROM chunk AS wanted JOIN document ON document.generation = wanted.chunk_generation
    JOIN collection ON collection_key = document_collection AND space = $4
    JOIN chunk ON chunk.chunk_generation = wanted.chunk_generation
      AND chunk.chunk_index BETWEEN wanted.chunk_index - $2::int AND wanted.chunk_index + $2::int
    WHERE wanted.chunk_id = $1)
  ${fitting}`

const following = `WITH near AS (
    SELECT found, place, sum(bytes) OVER (ORDER BY place) AS sum FROM (
      SELECT chunk.chunk_key AS found, chunk.chunk_index - $2::int AS place, ${bytes} AS bytes
      FROM document JOIN chunk ON chunk.chunk_generation = document.generation
      WHERE document.generation = $1 AND chunk.chunk_index >= $2::int ORDER BY chunk.chunk_index LIMIT $4) AS next)
  ${fitting}`

const fromCurrent = `FROM chunk JOIN document ON document.generation = chunk.chunk_generation
  WHERE chunk_key = ANY($1::bigint[]) AND document_collection = $2`

export function chunkReads({ read, space }: KnowledgeDatabase) {
  return {
    async chunkIds(generation: number): Promise<string[]> {
      const sql = 'SELECT chunk_id FROM chunk WHERE chunk_generation = $1 ORDER BY chunk_index'
      return (await read.all<{ chunk_id: string }>(sql, [generation])).map((row) => row.chunk_id)
    },

    async chunksOf(
      generations: readonly number[],
      after: number,
      limit: number,
    ): Promise<(StoredChunk & { generation: number })[]> {
      const rows = await read.all<StoredChunkRow>(
        `SELECT * FROM chunk WHERE chunk_generation = ANY($1::bigint[]) AND chunk_key > $2
         ORDER BY chunk_key LIMIT $3`,
        [generations, after, limit],
      )
      return rows.map((row) => ({ ...readChunk(row), generation: row.chunk_generation }))
    },

    async current(collection: number, chunks: readonly number[]): Promise<CurrentChunk[]> {
      const sql = `SELECT chunk.*, document.* ${fromCurrent}`
      return (await read.all<StoredChunkRow & DocumentRow>(sql, [chunks, collection])).map(readCurrentChunk)
    },

    async places(collection: number, chunks: readonly number[]): Promise<ChunkPlace[]> {
      const sql = `SELECT chunk_key, chunk_id, document_id, source, line_start, line_end, page, heading_path ${fromCurrent}`
      return (await read.all<PlaceRow>(sql, [chunks, collection])).map(readPlace)
    },

    async chunksAround(id: string, count: number, maxBytes: number): Promise<CurrentChunk[]> {
      const values = [toStored(id), count, maxBytes, space]
      const rows = await read.all<StoredChunkRow & DocumentRow>(around, values)
      if (rows.length === 0) throw notFound('chunk', id)
      return rows.map(readCurrentChunk)
    },

    async chunksFrom(generation: number, from: number, limit: number, maxBytes: number): Promise<CurrentChunk[]> {
      const values = [generation, from, maxBytes, limit]
      return (await read.all<StoredChunkRow & DocumentRow>(following, values)).map(readCurrentChunk)
    },

    async range(generation: number, from: number, to: number): Promise<StoredChunk[]> {
      const sql =
        'SELECT * FROM chunk WHERE chunk_generation = $1 AND chunk_index BETWEEN $2 AND $3 ORDER BY chunk_index'
      return (await read.all<StoredChunkRow>(sql, [generation, from, to])).map(readChunk)
    },
  }
}
