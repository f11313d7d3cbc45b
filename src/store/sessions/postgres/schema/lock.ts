import { pause } from '../../../../runtime/abort.ts'
import type { Connection, Sql } from '../../../postgres/connection.ts'
import { inTransaction } from '../../../postgres/transaction.ts'

/* The lock of those who change the tables of a schema. Versions of the program agree on its key. */

const pollMs = 50
/** As a lock of a table is waited for at most. */
const patienceMs = 10_000

export const lockKeyOf = (schema: string) => `agentserve:${schema}`

/** Held by who joins, until the end of its statement: it waits while the tables are changed, and they wait for it. */
export const sharedLock = `pg_advisory_xact_lock_shared(hashtext('agentserve:' || current_schema()))`

/**
 * A transaction during which nobody else changes the tables. It asks again and again: who waited inside of a statement would
 * have a snapshot, for whose end CREATE INDEX CONCURRENTLY waits. Fails like a statement whose lock came too late (55P03).
 */
export async function withSchemaLock<T>(
  connection: Connection,
  schema: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const begunMs = performance.now()
  for (;;) {
    const done = await inTransaction(connection, async (sql) => {
      const [row] = await sql.all<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock(hashtext($1)) AS taken', [
        lockKeyOf(schema),
      ])
      return row?.taken === true ? { value: await work(sql) } : undefined
    })
    if (done !== undefined) return done.value
    if (performance.now() - begunMs > patienceMs)
      throw Object.assign(new Error('Another server or command is changing the tables.'), { code: '55P03' })
    await pause(pollMs)
  }
}
