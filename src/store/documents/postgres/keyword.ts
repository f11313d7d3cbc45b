import type { KeywordQuery, Ranking } from '../../../core/knowledge/document-store.ts'
import type { Filters } from '../../../core/knowledge/filter.ts'
import { maxSearchWords } from '../../../core/knowledge/limits.ts'
import type { Sql } from '../../postgres/connection.ts'
import { type CollectionSize, createFrequencies } from '../frequencies.ts'
import { maxScoredBytes, scoredByAll } from '../scored.ts'
import type { KnowledgeDatabase } from './database.ts'
import { filterSql, Parameters } from './filter.ts'
import { partsOfWord, wordKey } from './word-counts.ts'

/** Chunks that are scored: those with the rarest words of the query. */
const maxCandidates = 5_000
/** If a query has no rarer word. */
const maxOfOneWord = 20_000
/** As FTS5 has them. */
const saturation = 1.2
const lengthShare = 0.75
const leastRarity = 1e-6

interface Size extends CollectionSize {
  /** Words per chunk. */
  usualLength: number
}

/** The number of chunks by word and of words by trigram. */
function createCounts() {
  return createFrequencies<Sql, Size>({
    async size(sql, collection) {
      const [row] = await sql.all<{ chunks: number; words: number; terms: number }>(
        `SELECT coalesce(sum(chunk_count), 0)::bigint AS chunks, coalesce(sum(word_count), 0)::bigint AS words,
           (SELECT greatest(count(*), 1) FROM term WHERE collection = $1) AS terms
         FROM document WHERE document_collection = $1`,
        [collection],
      )
      const { chunks = 0, words = 0, terms = 1 } = row ?? {}
      return { chunks, terms, usualLength: Math.max(1, words / Math.max(1, chunks)) }
    },
    async counts(sql, collection, words, trigrams) {
      const rows = await sql.all<{ at: number; is_word: boolean; found: number }>(
        `SELECT at, true AS is_word, found FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted (key, at)
           CROSS JOIN LATERAL (SELECT count(*) AS found FROM chunk_words WHERE words @> ARRAY[key]) AS counted
         UNION ALL SELECT at, false, found FROM unnest($3::text[]) WITH ORDINALITY AS wanted (key, at)
           CROSS JOIN LATERAL (SELECT count(*) AS found FROM term
             WHERE collection = $1 AND trigrams @> ARRAY[key]) AS counted`,
        [collection, words.map((word) => wordKey(collection, word)), trigrams],
      )
      const pairs = (isWord: boolean, texts: readonly string[]) =>
        rows
          .filter((row) => row.is_word === isWord && row.found > 0)
          .map(({ at, found }) => [texts[at - 1] ?? '', found] as const)
      return { words: pairs(true, words), trigrams: pairs(false, trigrams) }
    },
  })
}

interface FoundRow {
  chunk: number
  score: number
  content: Buffer | null
  heading_path: string | null
}

export function keywordReads({ search }: KnowledgeDatabase) {
  const counts = createCounts()
  return {
    frequencies: (collection: number, words: readonly string[], trigrams: readonly string[]) =>
      counts.frequencies(search, collection, words, trigrams),

    /** The best chunks with any of `find`, by the score of all words; only current chunks that pass the filters. */
    async keyword(
      collection: number,
      { find, score, chunks: total }: KeywordQuery,
      filters: Filters,
      limit: number,
    ): Promise<Ranking> {
      const { words, size } = await counts.known(search, collection, find.slice(0, maxSearchWords))
      if (words.size === 0) return []
      const rarest = [...words].sort(([, one], [, other]) => one - other)
      const rarities = rarest.map(([, count]) => rarityOf(count, size.chunks))
      const keys = rarest.map(([word]) => wordKey(collection, word))
      const parameters = new Parameters(
        candidatesOf(rarest, collection),
        keys,
        rarities,
        size.usualLength,
        limit,
        collection,
      )
      const text = rankSql(keys.length, filterSql(filters, parameters))
      const rows = await search.all<FoundRow>(text, parameters.values, 'fresh')
      const found = rows.map(({ chunk, score: own }) => ({ chunk, score: own }))
      const texts = rows.flatMap(({ chunk, content, heading_path: headingPath }) =>
        content === null || headingPath === null ? [] : [{ chunk, content: content.toString('utf8'), headingPath }],
      )
      return scoredByAll(found, texts, score, total).slice(0, limit)
    },
  }
}

/** How much a word says of a chunk that has it. */
function rarityOf(count: number, chunks: number): number {
  const rarity = Math.log((chunks - count + 0.5) / (count + 0.5))
  return Math.max(rarity, leastRarity)
}

/** The words of which a chunk must have one: the rarest, until they have enough chunks. */
function candidatesOf(rarest: readonly (readonly [string, number])[], collection: number): number[] {
  let left = maxCandidates
  const chosen = rarest.filter(([, count], at) => {
    left -= count
    return at === 0 || left >= 0
  })
  return chosen.map(([word]) => wordKey(collection, word))
}

/**
 * The words of a chunk are sorted, so that each of the query is found by halving. Documents are looked up in the order of the scores, until
 * there are enough current ones. Texts are read of the best only, as many as fit and at least one.
 */
function rankSql(words: number, filter: string): string {
  const each = (sql: (place: number) => string, by: string) =>
    Array.from({ length: words }, (_, at) => sql(at + 1)).join(by)
  const key = (place: number) => `($2::bigint[])[${place}]`
  return `WITH best AS MATERIALIZED (
      SELECT scored.chunk_key, score
      FROM (SELECT chunk_key, generation,
            ${each((n) => `coalesce(($3::float8[])[${n}] * times${n} * ${saturation + 1} / (times${n} + usual), 0)`, ' + ')} AS score
          FROM (SELECT chunk_key, generation, ${saturation} * (${1 - lengthShare} + ${lengthShare} * length / $4::float8) AS usual,
              ${each((n) => `CASE WHEN words[at${n}] = ${key(n)} THEN parts[at${n}] / ${partsOfWord}::float8 END AS times${n}`, ', ')}
            FROM (SELECT chunk_key, generation, length, words, parts, ${each((n) => `width_bucket(${key(n)}, words) AS at${n}`, ', ')}
              FROM chunk_words WHERE words && $1::bigint[] LIMIT ${maxOfOneWord}) AS candidate
            OFFSET 0) AS counted
          ORDER BY score DESC, chunk_key) AS scored
        CROSS JOIN LATERAL (SELECT FROM document
          WHERE document.generation = scored.generation AND document_collection = $6::int${filter} LIMIT 1) AS current
      ORDER BY score DESC, scored.chunk_key LIMIT $5)
    SELECT chunk, score, CASE WHEN fits THEN content END AS content, CASE WHEN fits THEN heading_path END AS heading_path
    FROM (SELECT best.chunk_key AS chunk, score, content, heading_path,
        row_number() OVER best_first = 1 OR sum(octet_length(content)) OVER best_first <= ${maxScoredBytes} AS fits
      FROM best JOIN chunk ON chunk.chunk_key = best.chunk_key
      WINDOW best_first AS (ORDER BY score DESC, best.chunk_key)) AS found
    ORDER BY score DESC, chunk`
}
