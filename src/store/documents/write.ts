import type { NewChunks, NewGeneration } from '../../core/knowledge/drivers.ts'
import { releaseBytes } from '../../runtime/release-bytes.ts'
import type { Connection } from '../sqlite/connection.ts'
import { addWords, removeFromIndex } from './keyword.ts'

/** Writes chunks and their index, in one statement each: the index writes what it has gathered after each statement. */
export async function insertChunks(
  connection: Connection,
  collection: number,
  documents: readonly NewChunks[],
): Promise<void> {
  if (documents.length === 0) return
  const { json, texts, words } = gathered(documents)
  await connection.runOnce(
    `INSERT INTO chunk (chunk_generation, chunk_key, chunk_index, chunk_id, content, heading_path,
       start_offset, end_offset, line_start, line_end, page, chunk_collection)
     SELECT given.value ->> 0, (given.value ->> 1) + (row.value ->> 0), row.value ->> 0, row.value ->> 1,
       ${textAt('?2', '(given.value ->> 2) + (row.value ->> 8)', 'row.value ->> 9')}, row.value ->> 2,
       row.value ->> 3, row.value ->> 4, row.value ->> 5, row.value ->> 6, row.value ->> 7, ?3 ${rowsOfJson}`,
    [json, texts, collection],
  )
  await connection.runOnce(
    `INSERT INTO words_${collection.toFixed(0)} (rowid, body, headings)
     SELECT (given.value ->> 1) + (row.value ->> 0),
       ${textAt('?2', '(given.value ->> 3) + (row.value ->> 10)', 'row.value ->> 11')},
       ${textAt('?2', '(given.value ->> 3) + (row.value ->> 10) + (row.value ->> 11)', 'row.value ->> 12')} ${rowsOfJson}`,
    [json, words],
  )
  releaseBytes(texts)
  releaseBytes(words)
  await addWords(
    connection,
    collection,
    documents.flatMap(({ newWords }) => newWords),
  )
}

/** JSONB, so that what is in it is found without being parsed for each column again. */
const rowsOfJson = "FROM jsonb_each(?1) AS given, jsonb_each(given.value, '$[4]') AS row"

/** A part of bytes that are UTF-8. */
function textAt(bytes: string, from: string, length: string): string {
  return `CAST(substr(${bytes}, 1 + ${from}, ${length}) AS TEXT)`
}

/** For each document its generation, its first key, where its texts and its words begin, and the fields of its chunks. */
function gathered(documents: readonly NewChunks[]): { json: string; texts: Buffer; words: Buffer } {
  let textsFrom = 0
  let wordsFrom = 0
  const given = documents.map(({ generation, firstChunk, rows }) => {
    const each = `[${generation},${firstChunk},${textsFrom},${wordsFrom},${rows.fields}]`
    textsFrom += rows.texts.length
    wordsFrom += rows.words.length
    return each
  })
  return {
    json: `[${given.join(',')}]`,
    texts: Buffer.concat(documents.map(({ rows }) => rows.texts)),
    words: Buffer.concat(documents.map(({ rows }) => rows.words)),
  }
}

const sweepBatch = 1_000

/** Removes some chunks of generations that are not current; gives how many. */
export async function removeChunks(connection: Connection, generations: readonly number[]): Promise<number> {
  const rows = await connection.all(
    `SELECT chunk_key, chunk_collection FROM chunk WHERE chunk_generation IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM document WHERE document.generation = chunk_generation) LIMIT ${sweepBatch}`,
    [JSON.stringify(generations)],
  )
  const byCollection = Map.groupBy(rows, (row) => Number(row.chunk_collection))
  for (const [collection, found] of byCollection) {
    const keys = found.map((row) => Number(row.chunk_key))
    await removeFromIndex(connection, collection, keys)
    await connection.run('DELETE FROM chunk WHERE chunk_key IN (SELECT value FROM json_each(?))', [
      JSON.stringify(keys),
    ])
  }
  return rows.length
}

/** Makes generations the current ones of their collection and source. */
export async function upsertDocuments(
  connection: Connection,
  collection: number,
  documents: readonly NewGeneration[],
): Promise<void> {
  await connection.run(
    `INSERT INTO document (document_id, document_collection, generation, source, document_name, media_type, metadata,
       reader_metadata, content_hash, chunk_count, chunk_size, chunk_overlap, chunker_type, created_at, updated_at)
     SELECT value ->> 0, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
       value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 12 FROM json_each(?) WHERE true
     ON CONFLICT (document_collection, source) DO UPDATE SET generation = excluded.generation,
       document_name = excluded.document_name, media_type = excluded.media_type, metadata = excluded.metadata,
       reader_metadata = excluded.reader_metadata, content_hash = excluded.content_hash,
       chunk_count = excluded.chunk_count, chunk_size = excluded.chunk_size, chunk_overlap = excluded.chunk_overlap,
       chunker_type = excluded.chunker_type, updated_at = excluded.updated_at`,
    [
      collection,
      JSON.stringify(
        documents.map((document) => [
          document.document_id,
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
        ]),
      ),
    ],
  )
}

/** Makes the sources those that the config has brought to the collection of that name. */
export async function replaceBrought(connection: Connection, collection: string, sources: readonly string[]) {
  const parameters = [collection, JSON.stringify(sources)]
  await connection.run(
    'DELETE FROM brought WHERE brought_collection = ? AND brought_source NOT IN (SELECT value FROM json_each(?))',
    parameters,
  )
  await connection.run('INSERT OR IGNORE INTO brought SELECT ?, value FROM json_each(?)', parameters)
}
