import type { VectorHit, VectorTable } from '../../core/knowledge/drivers.ts'
import { halfvecForm, toBinary, toBinaryArray } from './binary.ts'
import type { VectorDatabase } from './database.ts'
import type { Extension } from './extension.ts'
import { explaining } from './failure.ts'
import { assertGenerations, generationsOf } from './generations.ts'
import { hnswIndex, type IndexOptions } from './hnsw.ts'
import type { List } from './lists.ts'
import { type Asked, nearestStatements } from './nearest.ts'

export interface PgvectorOptions extends IndexOptions {
  /** Values that a brief search compares, which are not in an index. */
  comparedValues?: number | undefined
  /** So many rows that match a condition are compared with each; beyond them, the index is faster. Default 15,000. */
  comparedRows?: number | undefined
  /** How often a search looks whether another server has built the index; default 5 s. */
  lookEveryMs?: number | undefined
}

export interface ClosableTable extends VectorTable {
  missing(): Promise<number[]>
  close(): Promise<void>
  /** Closes the table of a list that is no more, and removes what this process keeps of it. */
  abandon(): Promise<void>
}

/** Rows of one transaction. */
const rowsAtOnce = 1_000
const mostComparedRows = 15_000
/** Comparing so many values takes some 60 ms of a processor of the database. */
const maxCompared = 40_000_000
const usualLookMs = 5_000

interface Nearest {
  chunk: number
  generation: number
  /** NaN for a vector of length 0. */
  distance: number
}

/** A list whose vectors pgvector searches. Searches of a small list are exact; a large one gets an index in the background. */
export function pgvectorTable(
  database: VectorDatabase,
  list: List,
  extension: Extension,
  {
    comparedValues = maxCompared,
    comparedRows = mostComparedRows,
    lookEveryMs = usualLookMs,
    ...options
  }: PgvectorOptions,
): ClosableTable {
  const { schema } = extension
  const { table, dimensions } = list
  const form = halfvecForm(extension.oid)
  const index = hnswIndex(database, list, `${schema}.halfvec_cosine_ops`, options)
  const statements = nearestStatements(list, schema)
  let lookedMs = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  const insert = `INSERT INTO ${table} (chunk_key, generation, embedding)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::${schema}.halfvec[]) ON CONFLICT DO NOTHING`
  const matching = `SELECT count(*) AS n FROM (SELECT FROM ${table} WHERE generation = ANY($1::bigint[]) LIMIT $2) AS first_rows`

  const explained = explaining(list)
  const look = async () => {
    await index.refresh()
    lookedMs = performance.now()
  }
  const lookAtTimes = async () => {
    if (performance.now() - lookedMs < lookEveryMs) return
    looking ??= look().finally(() => {
      looking = undefined
    })
    await looking
  }
  const isFew = async (generations: readonly number[]) => {
    const [row] = await database.vectors.all<{ n: number }>(matching, [generations, comparedRows + 1], 'fresh')
    return (row?.n ?? 0) <= comparedRows
  }
  const find = async (asked: Asked, isBrief: boolean) => {
    await lookAtTimes()
    const isTooMuch = isBrief && index.unindexed * dimensions > comparedValues
    if (isTooMuch && !index.isThere) return []
    const isCompared = asked.generations !== undefined && (await isFew(asked.generations))
    const { text, params } = isCompared ? statements.compared(asked) : statements.nearest(asked, index.limit, isTooMuch)
    return database.vectors.all<Nearest>(text, params, 'fresh')
  }

  return {
    async add(rows) {
      for (let from = 0; from < rows.length; from += rowsAtOnce) {
        const some = rows.slice(from, from + rowsAtOnce)
        const chunks = some.map(({ chunk }) => chunk)
        const generations = some.map(({ generation }) => generation)
        const vectors = toBinaryArray(some, dimensions, form)
        await explained(() => database.owned((sql) => sql.all(insert, [chunks, generations, vectors], 'fresh')))
        index.added(some.length)
      }
    },
    async search(vector, limit, generations, brief = false) {
      if (generations?.length === 0) return []
      if (generations) assertGenerations(generations)
      const query = toBinary(vector, dimensions, form)
      return explained(async () => (await find({ query, limit, generations }, brief)).map(toHit))
    },
    ...generationsOf(database, list),
    /**
     * The database removes deleted rows by itself; it plans searches by what it knows of the table. Never waits for a build of
     * the index, which would wait for this transaction.
     */
    compact: () =>
      explained(async () => {
        await database.work((sql) => sql.all(`ANALYZE (SKIP_LOCKED) ${table}`, [], 'fresh'), 'bulk')
      }),
    close: () => index.close(),
    abandon: () => index.close(),
  }
}

function toHit({ chunk, generation, distance }: Nearest): VectorHit {
  return { chunk, generation, similarity: Number.isNaN(distance) ? 0 : 1 - distance }
}
