import { DrizzleQueryError, getTableColumns, type Placeholder, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { drizzle, type SqliteRemoteDatabase } from 'drizzle-orm/sqlite-proxy'
import type { Connection, SqlValue } from './connection.ts'

/**
 * Runs drizzle queries on our connections, off the hot path. drizzle has no driver for `sqlite3` and reads rows by
 * position, while `sqlite3` returns objects: the columns of a result must have different names.
 */

export type Places<Values> = { [Name in keyof Values]: Placeholder }

interface Builder<Result> {
  prepare(): Prepared<Result>
}
interface Prepared<Result> {
  execute(values?: Record<string, unknown>): Promise<Result>
}

/** The rows of a SELECT or RETURNING, else the number of changed rows. */
type QueryResult<Result> = Result extends readonly unknown[] ? Result : number

/** A query that is built once per connection, on first use. */
export function query<Values extends object, Result>(
  build: (database: SqliteRemoteDatabase, places: Places<Values>) => Builder<Result>,
): (connection: Connection, values: Values) => Promise<QueryResult<Result>> {
  const prepared = new WeakMap<Connection, Prepared<Result>>()
  return (connection, values) => {
    let one = prepared.get(connection)
    if (one === undefined) {
      one = build(databaseOf(connection), placeByName as Places<Values>).prepare()
      prepared.set(connection, one)
    }
    return toOutcome(one.execute(values as Record<string, unknown>))
  }
}

export function execute<Result>(
  connection: Connection,
  build: (database: SqliteRemoteDatabase) => Builder<Result>,
): Promise<QueryResult<Result>> {
  return toOutcome(build(databaseOf(connection)).prepare().execute())
}

/** For an INSERT of a whole row. */
export function placesOf<Table extends SQLiteTable>(table: Table): Places<Table['$inferSelect']> {
  const names = Object.keys(getTableColumns(table))
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Places<Table['$inferSelect']>
}

const placeByName = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) })

const databases = new WeakMap<Connection, SqliteRemoteDatabase>()

function databaseOf(connection: Connection): SqliteRemoteDatabase {
  let database = databases.get(connection)
  if (database === undefined) {
    database = drizzle((text, params, method) => answer(connection, text, params, method))
    databases.set(connection, database)
  }
  return database
}

interface Changed {
  rows: never[]
  changes: number
}

async function answer(connection: Connection, text: string, params: SqlValue[], method: string) {
  if (method !== 'run') return { rows: (await connection.all(text, params)).map((row) => Object.values(row)) }
  const changed: Changed = { rows: [], changes: await connection.run(text, params) }
  return changed
}

async function toOutcome<Result>(executed: Promise<Result>): Promise<QueryResult<Result>> {
  try {
    const result = await executed
    return (Array.isArray(result) ? result : (result as Changed).changes) as QueryResult<Result>
  } catch (error) {
    // The message of drizzle's own error holds the values.
    throw error instanceof DrizzleQueryError ? error.cause : error
  }
}
