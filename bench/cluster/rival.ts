import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

/** Rows that are locked at once. */
const rows = 30
const sessionsFirst = [
  `SELECT 1 FROM session WHERE session_id IN (SELECT session_id FROM session ORDER BY updated_at DESC LIMIT ${rows})
   ORDER BY session_id DESC FOR UPDATE`,
  `SELECT 1 FROM run WHERE run_number IN (SELECT run_number FROM run ORDER BY run_number DESC LIMIT ${rows})
   ORDER BY run_number DESC FOR UPDATE`,
]

/**
 * Another connection that locks the newest sessions and then the newest runs, again and again: the other way round than the
 * server does. Postgres undoes what the server does then, since this connection waits for longer.
 */
export async function rival(adminUrl: string, schema: string, ms: number): Promise<void> {
  const client = new Client({ connectionString: adminUrl })
  client.on('error', () => {})
  const endsAt = performance.now() + ms
  try {
    await client.connect()
    await client.query(`SET search_path = ${schema}; SET deadlock_timeout = '20s'; SET lock_timeout = '4s'`)
    while (performance.now() < endsAt) {
      await client.query('BEGIN')
      for (const lock of sessionsFirst) {
        await client.query(lock)
        await sleep(150)
      }
      await client.query('COMMIT')
    }
  } catch {
    // Another fault has ended the connection, or it has waited for too long: its locks are gone, which is all that counts.
  } finally {
    await client.end().catch(() => {})
  }
}
