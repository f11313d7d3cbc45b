import type { Sql } from './connection.ts'

/*
 * Locks by name, until the end of the transaction. Servers of other schemas in the same database have locks of their own.
 * Those who take several take them in the order of their names, so that nobody waits for the other.
 */

type Kind = 'content' | 'copy' | 'prune' | 'words'

const keyOf = (name: string) => `hashtextextended(current_schema() || ':' || ${name}, 0)`

export async function lock(sql: Sql, kind: Kind, names: readonly string[]): Promise<void> {
  const sorted = names.map((name) => `${kind}:${name}`).sort()
  await sql.all(`SELECT pg_advisory_xact_lock(${keyOf('name')}) FROM unnest($1::text[]) AS name`, [sorted])
}

/** False: another transaction has it. */
export async function tryLock(sql: Sql, kind: Kind, name = ''): Promise<boolean> {
  const [row] = await sql.all<{ taken: boolean }>(`SELECT pg_try_advisory_xact_lock(${keyOf('$1::text')}) AS taken`, [
    `${kind}:${name}`,
  ])
  return row?.taken === true
}
