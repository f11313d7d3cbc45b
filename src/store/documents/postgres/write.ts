import { AppError } from '../../../core/error.ts'
import { chunkFieldIndex } from '../../../core/knowledge/chunk.ts'
import {
  type NewChunks,
  type NewGeneration,
  type Published,
  StaleCollection,
} from '../../../core/knowledge/document-store.ts'
import type { Sql } from '../../postgres/connection.ts'
import { givenColumns, replacedColumns, toDocumentRow } from '../write.ts'
import { toFilterable } from './filter.ts'
import { hashOfSource } from './lists.ts'
import { toBigints, toSmallints } from './number-array.ts'
import { toStored } from './stored-text.ts'
import { addTerms } from './terms.ts'
import { countWords, type WordCounts, wordKeys } from './word-counts.ts'

/** Of texts and counts in one statement; a single chunk may have more. */
const bytesPerStatement = 8_000_000

/** Each row has its part of the text, and of the keys and counts of words. */
const insertRows = `WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS given (k bigint, g bigint, n int, i text, h text, so int, eo int,
      ls int, le int, p int, f int, b int, l int, wf int, wt int)),
  texts AS (
    INSERT INTO chunk (chunk_key, chunk_id, chunk_collection, chunk_generation, chunk_index, content, heading_path,
      start_offset, end_offset, line_start, line_end, page)
    SELECT k, i, $3::int, g, n, substring($2::bytea FROM f + 1 FOR b), h, so, eo, ls, le, p FROM given)
  INSERT INTO chunk_words (chunk_key, generation, length, words, parts)
    SELECT k, g, l, ($4::bigint[])[wf + 1:wt], ($5::smallint[])[wf + 1:wt] FROM given`

/** Writes chunks and what finds them. */
export async function insertChunks(sql: Sql, collection: number, documents: readonly NewChunks[]): Promise<void> {
  const keys = wordKeys(collection)
  for (const some of inStatements(documents)) {
    const counts = some.map(({ words, headingWords }) => countWords(words, headingWords, keys.of))
    const [textsFrom, wordsFrom] = [
      beginnings(some.map(({ text }) => text.length)),
      beginnings(counts.map((each) => each.keys.length)),
    ]
    const rows = counts.map((count, at) =>
      toGiven(some[at] as ReadChunk, count, textsFrom[at] ?? 0, wordsFrom[at] ?? 0),
    )
    await sql.run(insertRows, [
      JSON.stringify(rows),
      Buffer.concat(some.map(({ text }) => text)),
      collection,
      toBigints(counts.map((each) => each.keys)),
      toSmallints(counts.map(({ parts }) => parts)),
    ])
  }
  await addTerms(sql, collection, keys.words())
}

/** Where each begins when they follow each other. */
function beginnings(lengths: readonly number[]): number[] {
  let next = 0
  return lengths.map((length) => {
    next += length
    return next - length
  })
}

interface ReadChunk {
  fields: (string | number | null)[]
  generation: number
  firstChunk: number
  text: Uint8Array
  words: string
  headingWords: string
}

function* inStatements(documents: readonly NewChunks[]): Generator<ReadChunk[]> {
  let some: ReadChunk[] = []
  let bytes = 0
  for (const chunk of documents.flatMap(readChunks)) {
    const size = chunk.text.length + chunk.words.length * 3
    if (some.length > 0 && bytes + size > bytesPerStatement) {
      yield some
      some = []
      bytes = 0
    }
    some.push(chunk)
    bytes += size
  }
  if (some.length > 0) yield some
}

function readChunks({ generation, firstChunk, rows }: NewChunks): ReadChunk[] {
  const words = Buffer.from(rows.words.buffer, rows.words.byteOffset, rows.words.byteLength)
  return (JSON.parse(rows.fields) as (string | number | null)[][]).map((fields) => {
    const [textFrom, textBytes] = [numberOf(fields, 'textFrom'), numberOf(fields, 'textBytes')]
    const wordsFrom = numberOf(fields, 'wordsFrom')
    const ownFrom = wordsFrom + numberOf(fields, 'headingWordsBytes')
    return {
      fields,
      generation,
      firstChunk,
      text: rows.texts.subarray(textFrom, textFrom + textBytes),
      words: words.toString('utf8', ownFrom, ownFrom + numberOf(fields, 'wordsBytes')),
      headingWords: words.toString('utf8', wordsFrom, ownFrom),
    }
  })
}

type Field = Parameters<typeof chunkFieldIndex>[0]
const fieldOf = (fields: ReadChunk['fields'], field: Field) => fields[chunkFieldIndex(field)] ?? null
const numberOf = (fields: ReadChunk['fields'], field: Field) => Number(fieldOf(fields, field))

/** Short names, since each chunk repeats them. */
function toGiven(chunk: ReadChunk, { keys, length }: WordCounts, textFrom: number, wordsFrom: number) {
  const { fields, generation, firstChunk, text } = chunk
  return {
    k: firstChunk + numberOf(fields, 'index'),
    g: generation,
    n: numberOf(fields, 'index'),
    i: fieldOf(fields, 'id'),
    h: fieldOf(fields, 'headingPath'),
    so: fieldOf(fields, 'startOffset'),
    eo: fieldOf(fields, 'endOffset'),
    ls: fieldOf(fields, 'lineStart'),
    le: fieldOf(fields, 'lineEnd'),
    p: fieldOf(fields, 'page'),
    f: textFrom,
    b: text.length,
    l: length,
    wf: wordsFrom,
    wt: wordsFrom + keys.length,
  }
}

/** In a transaction with the publication: the collection keeps its version until it ends. */
export async function checkVersion(sql: Sql, collection: number, version: number | undefined): Promise<void> {
  const [row] = await sql.all<{ version: number }>(
    'SELECT embedding_version AS version FROM collection WHERE collection_key = $1 FOR SHARE',
    [collection],
  )
  if (version !== undefined && row?.version !== version) throw new StaleCollection()
}

/**
 * Throws for generations that were reserved under a name that was taken for dead: chunks of them may be removed already. Whether
 * this process has registered anew meanwhile says nothing about them. In a transaction of `owned`.
 */
export async function checkReserved(sql: Sql, owner: number, generations: readonly number[]): Promise<void> {
  const strange = await sql.all(
    `SELECT FROM unnest($1::bigint[]) AS given (generation)
     WHERE (SELECT CASE WHEN last_generation >= generation THEN owner_key END FROM generation_range
       WHERE first_generation <= generation ORDER BY first_generation DESC LIMIT 1) IS DISTINCT FROM $2::int LIMIT 1`,
    [generations, owner],
  )
  if (strange.length > 0)
    throw new AppError('unavailable', 'This server was taken for dead. Retry in a moment.', { retryAfterSeconds: 1 })
}

const storedColumns = [...givenColumns, 'source_hash', 'filterable'] as const
const typeOf: Partial<Record<(typeof storedColumns)[number], string>> = {
  generation: 'bigint',
  chunk_count: 'int',
  chunk_size: 'int',
  chunk_overlap: 'int',
  filterable: 'jsonb',
}
const setColumns = [...replacedColumns, 'filterable', 'word_count']

/** Sorted, so that servers that publish the same sources wait for each other in one order. */
const upsertRows = `INSERT INTO document (document_collection, word_count, ${storedColumns})
  SELECT $1::int, coalesce((SELECT sum(length) FROM chunk_words WHERE chunk_words.generation = given.generation), 0),
    ${storedColumns.map((name) => `given.${name}`)}
  FROM jsonb_to_recordset($2::text::jsonb) AS given (${storedColumns.map((name) => `${name} ${typeOf[name] ?? 'text'}`)})
  ORDER BY source_hash
  ON CONFLICT (document_collection, source_hash) DO UPDATE SET replaced_generation = document.generation,
    ${setColumns.map((name) => `${name} = excluded.${name}`)}
  RETURNING source_hash, document_id, replaced_generation`

interface UpsertedRow {
  source_hash: string
  document_id: string
  replaced_generation: number | null
}

/** Makes each generation the current one of its collection and source; gives what each replaced, in order. */
export async function upsertDocuments(
  sql: Sql,
  collection: number,
  documents: readonly NewGeneration[],
): Promise<Published[]> {
  if (documents.length === 0) return []
  const rows = documents.map((document) => {
    const row = toDocumentRow(document)
    return {
      ...row,
      source: toStored(row.source),
      source_hash: hashOfSource(row.source),
      document_name: row.document_name === null ? null : toStored(row.document_name),
      media_type: row.media_type === null ? null : toStored(row.media_type),
      filterable: toFilterable(document.metadata, document.source),
    }
  })
  const upserted = await sql.all<UpsertedRow>(upsertRows, [collection, JSON.stringify(rows)])
  const byHash = new Map(upserted.map((row) => [row.source_hash, row]))
  const published = rows.map(({ source_hash, document_id }) => {
    const row = byHash.get(source_hash)
    return { documentId: row?.document_id ?? document_id, replaced: row?.replaced_generation ?? undefined }
  })
  await retire(
    sql,
    published.flatMap(({ replaced }) => replaced ?? []),
  )
  return published
}

/** Notes that the rows of these generations can be deleted, by anybody. */
export async function retire(sql: Sql, generations: readonly number[]): Promise<void> {
  if (generations.length === 0) return
  await sql.run('INSERT INTO retired SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING', [generations])
}
