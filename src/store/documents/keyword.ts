import type { KeywordQuery, Ranking } from '../../core/knowledge/document-store.ts'
import type { Filters } from '../../core/knowledge/filter.ts'
import { maxSearchWords } from '../../core/knowledge/limits.ts'
import { trigramsOf } from '../../core/text/terms.ts'
import type { Connection, SqlValue } from '../sqlite/connection.ts'
import { isTelling } from './database.ts'
import { filterSql } from './filter.ts'
import { beginningsOf, formsOf, maxWordsRead } from './forms.ts'
import { type CollectionSize, createFrequencies } from './frequencies.ts'
import { headingWeight, maxScoredBytes, scoredByAll } from './scored.ts'

const maxTrigrams = 64
const lastCharacter = 0x10ffff
/** Marks which of the two tables a row comes from. */
const ofWords = 0
const ofTrigrams = 1

/** Adds new words with their trigrams. */
export async function addWords(connection: Connection, collection: number, words: readonly string[]): Promise<void> {
  if (words.length === 0) return
  const key = collection.toFixed(0)
  const [last] = await connection.all(`SELECT coalesce(max(term_key), 0) AS last FROM terms_${key}`)
  await connection.run(
    `INSERT OR IGNORE INTO terms_${key} (word) SELECT DISTINCT value FROM json_each(?) WHERE ${isTelling('value')}`,
    [JSON.stringify(words)],
  )
  await connection.run(
    `INSERT INTO trigrams_${key} (rowid, body) SELECT term_key, ' ' || word || ' ' FROM terms_${key} WHERE term_key > ?`,
    [last?.last ?? 0],
  )
}

export async function removeFromIndex(connection: Connection, collection: number, chunks: readonly number[]) {
  const key = collection.toFixed(0)
  const keys = JSON.stringify(chunks)
  await connection.run(`DELETE FROM words_${key} WHERE rowid IN (SELECT value FROM json_each(?))`, [keys])
}

/** The best chunks with any of `find`, by the score of all words; only current chunks that pass the filters. */
export async function rankByWords(
  connection: Connection,
  collection: number,
  { find, score, chunks: total }: KeywordQuery,
  filters: Filters,
  limit: number,
): Promise<Ranking> {
  if (find.length === 0) return []
  const table = `words_${collection.toFixed(0)}`
  const found = await rankCurrent(
    connection,
    {
      sql: `SELECT rowid AS chunk, -rank AS score FROM ${table}
        WHERE ${table} MATCH ? AND rank MATCH 'bm25(1.0, ${headingWeight})' ORDER BY rank`,
      parameters: [find.slice(0, maxSearchWords).map(quoted).join(' OR ')],
    },
    filters,
    limit,
  )
  const rows = await connection.all(selectTexts, [JSON.stringify(thatFit(found))])
  const texts = rows.map((row) => ({
    chunk: Number(row.chunk),
    content: String(row.content),
    headingPath: String(row.heading_path),
  }))
  return scoredByAll(found, texts, score, total).slice(0, limit)
}

const selectTexts = `SELECT chunk_key AS chunk, content, heading_path
  FROM json_each(?) AS wanted CROSS JOIN chunk ON chunk_key = wanted.value ORDER BY wanted.key`

/** The first chunks, as many as fit and at least one. */
function thatFit(found: readonly FoundChunk[]): number[] {
  let left = maxScoredBytes
  const last = found.findIndex(({ bytes }, at) => {
    left -= bytes
    return left < 0 && at > 0
  })
  return found.slice(0, last === -1 ? undefined : last).map(({ chunk }) => chunk)
}

/** The other words of the collection with the same stem, by word. */
export async function inflectionsOf(
  connection: Connection,
  collection: number,
  words: readonly string[],
): Promise<Map<string, string[]>> {
  const beginnings = beginningsOf(words).map(({ beginning, length }) => [beginning, length])
  const rows = await connection.all(
    `SELECT DISTINCT word FROM json_each(?) AS wanted CROSS JOIN terms_${collection.toFixed(0)}
     WHERE word >= wanted.value ->> 0 AND word < (wanted.value ->> 0) || char(${lastCharacter})
       AND length(word) <= wanted.value ->> 1 LIMIT ${maxWordsRead}`,
    [JSON.stringify(beginnings)],
  )
  return formsOf(
    words,
    rows.map((row) => String(row.word)),
  )
}

/** Words that share trigrams with a word, largest overlap first. */
export async function similarWords(
  connection: Connection,
  collection: number,
  word: string,
  limit: number,
): Promise<string[]> {
  const key = collection.toFixed(0)
  const trigrams = [...new Set(trigramsOf(word))].slice(0, maxTrigrams)
  const rows = await connection.all(
    `SELECT word FROM (SELECT trigrams_${key}.rowid AS found, count(*) AS shared
         FROM json_each(?) AS wanted CROSS JOIN trigrams_${key} ON trigrams_${key} MATCH wanted.value
         GROUP BY found ORDER BY shared DESC LIMIT 200)
       JOIN terms_${key} ON term_key = found WHERE word <> ?
     ORDER BY shared * 1.0 / (length(word) + ? - shared) DESC, word LIMIT ?`,
    [JSON.stringify(trigrams.map(quoted)), word, trigrams.length, limit],
  )
  return rows.map((row) => String(row.word))
}

interface FoundChunk {
  chunk: number
  score: number
  bytes: number
}

/** Current chunks that pass the filters. A look-up is expensive: the best matches first, all only if too few pass. */
async function rankCurrent(
  connection: Connection,
  index: { sql: string; parameters: readonly SqlValue[] },
  filters: Filters,
  limit: number,
): Promise<FoundChunk[]> {
  const filter = filterSql(filters)
  const lookUp = async (most: number): Promise<FoundChunk[]> => {
    const rows = await connection.all(
      `SELECT found.chunk AS chunk, found.score AS score, octet_length(chunk.content) AS bytes FROM (${index.sql} LIMIT ?) AS found
         CROSS JOIN chunk ON chunk.chunk_key = found.chunk
         CROSS JOIN document ON document.generation = chunk.chunk_generation
       WHERE 1${filter.sql} ORDER BY score DESC, chunk LIMIT ?`,
      [...index.parameters, most, ...filter.parameters, limit],
    )
    return rows.map((row) => ({ chunk: Number(row.chunk), score: Number(row.score), bytes: Number(row.bytes) }))
  }
  if (filter.sql !== '') return lookUp(-1)
  const best = await lookUp(limit * 2)
  return best.length < limit ? lookUp(-1) : best
}

/** FTS5 takes text in double quotes literally. */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

/** `writes`: counts the writes. */
export function createCounts(writes: () => number) {
  return createFrequencies<Connection, CollectionSize>({
    writes,
    async size(connection, collection) {
      const [row] = await connection.all(
        `SELECT (SELECT coalesce(sum(chunk_count), 0) FROM document WHERE document_collection = ?) AS chunks,
           (SELECT coalesce(max(term_key), 1) FROM terms_${collection.toFixed(0)}) AS terms`,
        [collection],
      )
      return { chunks: Number(row?.chunks), terms: Number(row?.terms) }
    },
    async counts(connection, collection, words, trigrams) {
      const key = collection.toFixed(0)
      const rows = await connection.all(
        `${countsOf(ofWords, `words_vocabulary_${key}`)} UNION ALL ${countsOf(ofTrigrams, `trigrams_vocabulary_${key}`)}`,
        [JSON.stringify(words), JSON.stringify(trigrams)],
      )
      const pairs = (kind: number) =>
        rows.filter((row) => row.kind === kind).map(({ term, chunks }) => [String(term), Number(chunks)] as const)
      return { words: pairs(ofWords), trigrams: pairs(ofTrigrams) }
    },
  })
}

function countsOf(kind: number, table: string): string {
  return `SELECT ${kind} AS kind, vocabulary.term AS term, vocabulary.doc AS chunks
    FROM json_each(?) AS wanted CROSS JOIN ${table} AS vocabulary ON vocabulary.term = wanted.value`
}
