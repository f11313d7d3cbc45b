import { trigramsOf } from '../../../core/text/terms.ts'
import type { Sql } from '../../postgres/connection.ts'
import { beginningsOf, formsOf, maxWordsRead } from '../forms.ts'
import type { KnowledgeDatabase } from './database.ts'
import { wordKey } from './word-counts.ts'

const maxTrigrams = 64
const termsAtOnce = 500

/** Words that a user may misspell or know in part: no numbers, hashes or other long words. As in SQLite's `isTelling`. */
function isTelling(word: string): boolean {
  if (word.length < 3 || word.length > 80 || !/[^0-9]/.test(word)) return false
  const { length } = [...word]
  return length >= 3 && length <= 40
}

const lockTerms = (shared: boolean) =>
  `SELECT pg_advisory_xact_lock${shared ? '_shared' : ''}(hashtextextended(current_schema() || ':terms', $1::int))`

/** In the transaction of the chunks: words of chunks that are not committed yet are not taken for unused. */
export async function addTerms(sql: Sql, collection: number, words: Iterable<string>): Promise<void> {
  const telling = [...words].filter(isTelling).sort()
  if (telling.length === 0) return
  await sql.all(lockTerms(true), [collection])
  const known = await sql.all<{ word: string }>(
    'SELECT word FROM term WHERE collection = $1 AND word = ANY($2::text[])',
    [collection, telling],
  )
  const there = new Set(known.map(({ word }) => word))
  const added = telling
    .filter((word) => !there.has(word))
    .map((word) => ({ w: word, t: [...new Set(trigramsOf(word))] }))
  if (added.length === 0) return
  await sql.run(
    `INSERT INTO term SELECT $1::int, w, t FROM jsonb_to_recordset($2::text::jsonb) AS given (w text, t text[])
     ORDER BY w COLLATE "C" ON CONFLICT DO NOTHING`,
    [collection, JSON.stringify(added)],
  )
}

/** Removes words that are in no chunk any more, a few at a time, after `word`; gives the last that was looked at. */
export function removeUnusedTerms(sql: Sql, collection: number, after: string): Promise<string | undefined> {
  return sql.all(lockTerms(false), [collection]).then(async () => {
    const rows = await sql.all<{ word: string }>(
      'SELECT word FROM term WHERE collection = $1 AND word > $2 ORDER BY word LIMIT $3',
      [collection, after, termsAtOnce],
    )
    const words = rows.map(({ word }) => word)
    await sql.run(
      `DELETE FROM term USING unnest($2::text[], $3::bigint[]) AS given (w, key) WHERE collection = $1 AND word = w
         AND (SELECT 1 FROM chunk_words WHERE words @> ARRAY[key] LIMIT 1) IS NULL`,
      [collection, words, words.map((word) => wordKey(collection, word))],
    )
    return words.at(-1)
  })
}

export function termReads({ search }: KnowledgeDatabase) {
  return {
    async inflections(collection: number, words: readonly string[]): Promise<Map<string, string[]>> {
      const beginnings = beginningsOf(words)
      if (beginnings.length === 0) return new Map()
      const rows = await search.all<{ word: string }>(
        `SELECT word FROM unnest($2::text[], $3::int[]) WITH ORDINALITY AS wanted (beginning, most, at)
           JOIN term ON collection = $1 AND word >= beginning COLLATE "C"
             AND word < (beginning || chr(1114111)) COLLATE "C" AND length(word) <= most
         ORDER BY at, word LIMIT ${maxWordsRead}`,
        [collection, beginnings.map(({ beginning }) => beginning), beginnings.map(({ length }) => length)],
      )
      return formsOf(
        words,
        rows.map((row) => row.word),
      )
    },

    async similarWords(collection: number, word: string, limit: number): Promise<string[]> {
      const trigrams = [...new Set(trigramsOf(word))].slice(0, maxTrigrams)
      const rows = await search.all<{ word: string }>(
        `SELECT word FROM (
           SELECT word, count(*) AS shared FROM term CROSS JOIN unnest(trigrams) AS trigram
           WHERE collection = $1 AND trigrams && $2::text[] AND trigram = ANY($2::text[])
           GROUP BY word) AS found
         WHERE word <> $3::text
         ORDER BY shared * 1.0 / (length(word) + $4::int - shared) DESC, word LIMIT $5`,
        [collection, trigrams, word, trigrams.length, limit],
      )
      return rows.map((row) => row.word)
    },
  }
}
