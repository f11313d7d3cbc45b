import type { Sql } from '../postgres/connection.ts'
import { indexName, type List } from './lists.ts'

/**
 * It has the rows whose key is at most its limit, because adding a row to an index takes 35 to 60 times as long as adding it to
 * the table alone. Its definition says the limit: that is right for every server, also while another index replaces it.
 */
export interface FoundIndex {
  name: string
  isValid: boolean
  /** The highest key in it; null: it has all rows, as indexes of earlier versions do. */
  limit: number | null
}

export interface FoundIndexes {
  /** Under its lasting name. */
  index: FoundIndex | undefined
  /** What replaces it: being built, or left behind by a server that is gone. */
  next: FoundIndex | undefined
}

interface Tally {
  rows: number
  /** Rows that the index does not have. */
  beyond: number
  highest: number | null
}

export async function findIndexes(read: Pick<Sql, 'all'>, { name }: List): Promise<FoundIndexes> {
  const found = await read.all<FoundIndex>(
    `SELECT relname AS name, indisvalid AS "isValid", substring(pg_get_expr(indpred, indrelid) FROM '\\d+')::bigint AS limit
       FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = current_schema() AND relname IN ($1, $2)`,
    [indexName(name), nextIndexName(name)],
  )
  return {
    index: found.find((one) => one.name === indexName(name)),
    next: found.find((one) => one.name === nextIndexName(name)),
  }
}

/** The one for searches: a higher limit leaves less to compare, and one without a limit is the first to go. */
export function usable({ index, next }: FoundIndexes): FoundIndex | undefined {
  const valid = [index, next].filter((one) => one?.isValid)
  return valid.sort((one, other) => (other?.limit ?? -1) - (one?.limit ?? -1))[0]
}

export async function tally(read: Pick<Sql, 'all'>, { table }: List, limit: number | null): Promise<Tally> {
  const [row] = await read.all<Tally>(
    `SELECT count(*) AS rows, count(*) FILTER (WHERE chunk_key > $1::bigint) AS beyond, max(chunk_key) AS highest
     FROM ${table}`,
    [limit],
    'fresh',
  )
  return row ?? { rows: 0, beyond: 0, highest: null }
}

/** A name of 63 characters at most. */
export const nextIndexName = (name: string) => `${indexName(name)}_new`
