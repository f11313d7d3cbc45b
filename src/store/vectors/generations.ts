import type { Sql } from '../postgres/connection.ts'
import type { VectorDatabase } from './database.ts'
import { explaining } from './failure.ts'
import type { List } from './lists.ts'

/* What all lists have in common, in whatever form their vectors are. */

const largest = Number.MAX_SAFE_INTEGER

/** Only whole numbers. */
export function assertGenerations(generations: readonly number[]): void {
  for (const one of generations)
    if (!Number.isSafeInteger(one) || one < 0 || one > largest) throw new TypeError(`no generation: ${String(one)}`)
}

/** What a list of any form says of its generations, and how they are removed. */
export function generationsOf(database: VectorDatabase, list: List) {
  const explained = explaining(list)
  return {
    counts: () => explained(() => countByGeneration(database.read, list)),
    count: () => explained(() => countAll(database.read, list)),
    missing: () => explained(() => missingGenerations(database.read, list)),
    async removeGenerations(generations: readonly number[]): Promise<void> {
      assertGenerations(generations)
      if (generations.length > 0)
        await explained(() => database.work((sql) => removeRows(sql, list, generations), 'bulk'))
    },
  }
}

interface Counted {
  generation: number
  n: number
}

async function countAll(sql: Pick<Sql, 'all'>, { table }: List): Promise<number> {
  const [row] = await sql.all<{ n: number }>(`SELECT count(*) AS n FROM ${table}`, [], 'fresh')
  return row?.n ?? 0
}

async function countByGeneration(sql: Pick<Sql, 'all'>, { table }: List): Promise<Map<number, number>> {
  const rows = await sql.all<Counted>(`SELECT generation, count(*) AS n FROM ${table} GROUP BY generation`, [], 'fresh')
  return new Map(rows.map(({ generation, n }) => [generation, n]))
}

async function removeRows(sql: Sql, { table }: List, generations: readonly number[]): Promise<void> {
  await sql.all(`DELETE FROM ${table} WHERE generation = ANY($1::bigint[])`, [generations], 'fresh')
}

/** Current generations of the list's collection whose vectors are not all there. */
async function missingGenerations(sql: Pick<Sql, 'all'>, { table, collection }: List): Promise<number[]> {
  if (collection === undefined) return []
  const rows = await sql.all<{ generation: number }>(
    `SELECT document.generation FROM document
       LEFT JOIN (SELECT generation, count(*) AS n FROM ${table} GROUP BY generation) AS held USING (generation)
     WHERE document_collection = $1 AND chunk_count > 0 AND chunk_count <> coalesce(n, 0) ORDER BY document.generation`,
    [collection],
    'fresh',
  )
  return rows.map(({ generation }) => generation)
}
