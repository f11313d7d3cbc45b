import type { Filters } from '../core/knowledge.ts'
import type { Ranking, StoredChunk, TermFrequencies } from '../core/knowledge-drivers.ts'
import { wordsOf } from '../core/terms.ts'
import type { Connection } from './documents-connection.ts'
import { filterSql } from './documents-filter.ts'
import type { Reader } from './documents-writer.ts'

const maxMatchTerms = 64
const headingWeight = 1.5

/** What the two full-text indexes get of a chunk: its words in order, and each word once for the trigrams. */
export function indexRows(chunks: readonly StoredChunk[]): string {
  return JSON.stringify(
    chunks.map((chunk) => {
      const body = wordsOf(chunk.content)
      const headings = wordsOf(chunk.headingPath.join(' '))
      return [chunk.key, body.join(' '), headings.join(' '), ` ${[...new Set([...headings, ...body])].join(' ')} `]
    }),
  )
}

export async function writeIndex(connection: Connection, collection: number, rows: string): Promise<void> {
  const key = collection.toFixed(0)
  await connection.run(
    `INSERT INTO words_${key} (rowid, body, headings)
     SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`,
    [rows],
  )
  await connection.run(`INSERT INTO trigrams_${key} (rowid, body) SELECT value ->> 0, value ->> 3 FROM json_each(?)`, [
    rows,
  ])
}

export async function removeFromIndex(connection: Connection, collection: number, chunks: readonly number[]) {
  const key = collection.toFixed(0)
  const keys = JSON.stringify(chunks)
  await connection.run(`DELETE FROM words_${key} WHERE rowid IN (SELECT value FROM json_each(?))`, [keys])
  await connection.run(`DELETE FROM trigrams_${key} WHERE rowid IN (SELECT value FROM json_each(?))`, [keys])
}

/** BM25 over the words, any of them; only current chunks that the filters let through. */
export async function rankByWords(
  connection: Reader,
  collection: number,
  words: readonly string[],
  filters: Filters,
  limit: number,
): Promise<Ranking> {
  if (words.length === 0) return []
  const table = `words_${collection.toFixed(0)}`
  const filter = filterSql(filters)
  const match = words.slice(0, maxMatchTerms).map(quoted).join(' OR ')
  const rows = await connection.all(
    `SELECT chunk.chunk_key AS chunk, -bm25(${table}, 1.0, ${headingWeight}) AS score
     FROM ${table} JOIN chunk ON chunk.chunk_key = ${table}.rowid
       JOIN document ON document.generation = chunk.chunk_generation
     WHERE ${table} MATCH ?${filter.sql} ORDER BY score DESC, chunk LIMIT ?`,
    [match, ...filter.parameters, limit],
  )
  return rows.map((row) => ({ chunk: Number(row.chunk), score: Number(row.score) }))
}

/** By the sum of the weights of the trigrams that a chunk has. */
export async function rankByTrigrams(
  connection: Reader,
  collection: number,
  weights: readonly (readonly [trigram: string, weight: number])[],
  filters: Filters,
  limit: number,
): Promise<Ranking> {
  if (weights.length === 0) return []
  const table = `trigrams_${collection.toFixed(0)}`
  const filter = filterSql(filters)
  const rows = await connection.all(
    `SELECT found.chunk AS chunk, found.score AS score
     FROM (SELECT ${table}.rowid AS chunk, sum(term.value ->> 1) AS score
           FROM json_each(?) AS term CROSS JOIN ${table} ON ${table} MATCH (term.value ->> 0) GROUP BY ${table}.rowid) AS found
       JOIN chunk ON chunk.chunk_key = found.chunk
       JOIN document ON document.generation = chunk.chunk_generation
     WHERE 1${filter.sql} ORDER BY score DESC, chunk LIMIT ?`,
    [JSON.stringify(weights.map(([trigram, weight]) => [quoted(trigram), weight])), ...filter.parameters, limit],
  )
  return rows.map((row) => ({ chunk: Number(row.chunk), score: Number(row.score) }))
}

/** FTS5 takes what stands in double quotes as text, whatever it holds. */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

export async function termFrequencies(
  connection: Reader,
  collection: number,
  words: readonly string[],
  trigrams: readonly string[],
): Promise<TermFrequencies> {
  const key = collection.toFixed(0)
  const [total] = await connection.all(
    'SELECT coalesce(sum(chunk_count), 0) AS chunks FROM document WHERE document_collection = ?',
    [collection],
  )
  const count = async (table: string, terms: readonly string[]) => {
    const rows = await connection.all(
      `SELECT vocabulary.term AS term, vocabulary.doc AS chunks
       FROM json_each(?) AS wanted CROSS JOIN ${table} AS vocabulary ON vocabulary.term = wanted.value`,
      [JSON.stringify(terms)],
    )
    return new Map(rows.map((row) => [String(row.term), Number(row.chunks)]))
  }
  return {
    chunks: Number(total?.chunks),
    words: await count(`words_vocabulary_${key}`, words),
    trigrams: await count(`trigrams_vocabulary_${key}`, trigrams),
  }
}
