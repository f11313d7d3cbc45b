import type { Connection } from './connection.ts'

/** Commits all that the work writes, or nothing. The connection must have no other user meanwhile. */
export async function inTransaction<C extends Pick<Connection, 'run'>, T>(
  connection: C,
  work: (connection: C) => Promise<T>,
): Promise<T> {
  await connection.run('BEGIN IMMEDIATE')
  try {
    const result = await work(connection)
    await connection.run('COMMIT')
    return result
  } catch (error) {
    // SQLite may have rolled back by itself (disk full): then there is nothing left to undo.
    await connection.run('ROLLBACK').catch(() => {})
    throw error
  }
}
