import { type ChunkField, chunkFieldIndex } from '../../core/knowledge/chunk.ts'
import type { NewChunks, NewGeneration, Published } from '../../core/knowledge/document-store.ts'
import { releaseBytes } from '../../runtime/release-bytes.ts'
import type { Connection } from '../sqlite/connection.ts'
import { addWords, removeFromIndex } from './keyword.ts'
import type { ChunkRow, DocumentRow } from './schema.ts'

/** Writes chunks and their index in one statement each, because the index flushes after each statement. */
export async function insertChunks(
  connection: Connection,
  collection: number,
  documents: readonly NewChunks[],
): Promise<void> {
  if (documents.length === 0) return
  const { json, texts, words } = gathered(documents)
  await connection.runOnce(insertRows, [json, texts, collection])
  await connection.runOnce(
    `INSERT INTO words_${collection.toFixed(0)} (rowid, body, headings)
     SELECT ${chunkKey}, ${textAt(`${wordsFrom} + (${field('headingWordsBytes')})`, field('wordsBytes'))},
       ${textAt(wordsFrom, field('headingWordsBytes'))} ${eachChunk}`,
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

/** As JSONB, so that it is not parsed again for each column. */
const eachChunk = "FROM jsonb_each(?1) AS given, jsonb_each(given.value, '$[4]') AS row"
const field = (name: ChunkField) => `row.value ->> ${chunkFieldIndex(name)}`
/** A slice of the bytes of `?2`, which are UTF-8. */
const textAt = (from: string, bytes: string) => `CAST(substr(?2, 1 + ${from}, ${bytes}) AS TEXT)`
const chunkKey = `(given.value ->> 1) + (${field('index')})`
const wordsFrom = `(given.value ->> 3) + (${field('wordsFrom')})`

/** The SQL of each column of a new chunk. */
const chunkValues: Record<keyof ChunkRow, string> = {
  chunk_key: chunkKey,
  chunk_id: field('id'),
  chunk_collection: '?3',
  chunk_generation: 'given.value ->> 0',
  chunk_index: field('index'),
  content: textAt(`(given.value ->> 2) + (${field('textFrom')})`, field('textBytes')),
  heading_path: field('headingPath'),
  start_offset: field('startOffset'),
  end_offset: field('endOffset'),
  line_start: field('lineStart'),
  line_end: field('lineEnd'),
  page: field('page'),
}
const insertRows = `INSERT INTO chunk (${Object.keys(chunkValues)}) SELECT ${Object.values(chunkValues)} ${eachChunk}`

/** The texts of all chunks as one buffer, and JSON with the fields of each chunk and where its texts begin. */
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

const chunksPerStep = 1_000

/** Removes some chunks of generations that are not current; returns how many. */
export async function removeChunks(connection: Connection, generations: readonly number[]): Promise<number> {
  const rows = await connection.all(
    `SELECT chunk_key, chunk_collection FROM chunk WHERE chunk_generation IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM document WHERE document.generation = chunk_generation) LIMIT ${chunksPerStep}`,
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

export type NewDocumentRow = Omit<DocumentRow, 'document_key' | 'document_collection'>

export const replacedColumns = [
  'generation',
  'document_name',
  'media_type',
  'metadata',
  'reader_metadata',
  'content_hash',
  'chunk_count',
  'chunk_size',
  'chunk_overlap',
  'chunker_type',
  'updated_at',
] as const satisfies (keyof NewDocumentRow)[]
export const givenColumns = [
  'document_id',
  'source',
  'created_at',
  ...replacedColumns,
] as const satisfies (keyof NewDocumentRow)[]

const upsertRows = `INSERT INTO document (document_collection, ${givenColumns})
  SELECT ?, ${givenColumns.map((name) => `value ->> '${name}'`)} FROM json_each(?) WHERE true
  ON CONFLICT (document_collection, source) DO UPDATE SET ${replacedColumns.map((name) => `${name} = excluded.${name}`)}`
const selectReplaced = `SELECT source, document_id, generation FROM document
  WHERE document_collection = ? AND source IN (SELECT value FROM json_each(?))`

/** Makes each generation the current one of its collection and source. */
export async function upsertDocuments(
  connection: Connection,
  collection: number,
  documents: readonly NewGeneration[],
): Promise<Published[]> {
  const sources = JSON.stringify(documents.map(({ source }) => source))
  const replaced = new Map(
    (await connection.all<DocumentRow>(selectReplaced, [collection, sources])).map((row) => [row.source, row]),
  )
  await connection.run(upsertRows, [collection, JSON.stringify(documents.map(toDocumentRow))])
  return documents.map(({ document_id, source }) => ({
    documentId: replaced.get(source)?.document_id ?? document_id,
    replaced: replaced.get(source)?.generation,
  }))
}

export function toDocumentRow({ name, ...document }: NewGeneration): NewDocumentRow {
  return {
    ...document,
    document_name: name,
    metadata: JSON.stringify(document.metadata),
    reader_metadata: JSON.stringify(document.reader_metadata),
    created_at: document.created_at ?? document.updated_at,
  }
}

/** Records sources as those that the config added to the collection, and forgets others. */
export async function changeBrought(
  connection: Connection,
  collection: string,
  add: readonly string[],
  forget: readonly string[],
) {
  await connection.run(
    'DELETE FROM brought WHERE brought_collection = ? AND brought_source IN (SELECT value FROM json_each(?))',
    [collection, JSON.stringify(forget)],
  )
  await connection.run('INSERT OR IGNORE INTO brought SELECT ?, value FROM json_each(?)', [
    collection,
    JSON.stringify(add),
  ])
}
