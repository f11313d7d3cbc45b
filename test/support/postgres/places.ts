import { createHash } from 'node:crypto'
import { Client } from 'pg'

/** The beginning of all names that a run of the tests gives to schemas and databases. */
export const prefixOf = (folder: string) => `test_${createHash('sha256').update(folder).digest('hex').slice(0, 8)}_`

/** Drops what a run has left on a server that it did not start. */
export async function dropPlaces(url: string, prefix: string): Promise<void> {
  const named = (from: string, column: string) =>
    execute(url, `SELECT quote_ident(${column}) FROM ${from} WHERE starts_with(${column}, '${prefix}')`)
  for (const name of await named('pg_namespace', 'nspname')) await execute(url, `DROP SCHEMA IF EXISTS ${name} CASCADE`)
  for (const name of await named('pg_database', 'datname'))
    await execute(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

/** The values of all rows, one after the other: those of the last statement. */
export async function execute(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  // A connection that breaks rejects what is asked of it; unheard, the event would end the program.
  client.on('error', () => {})
  await client.connect()
  try {
    // One result for each statement, which the types of the library don't say.
    const results = [await client.query({ text, rowMode: 'array' })].flat() as { rows: unknown[][] }[]
    return results.at(-1)?.rows.flat() ?? []
  } finally {
    await client.end()
  }
}
