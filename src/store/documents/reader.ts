import { type Connection, openConnection } from './connection.ts'
import type { Reader } from './writer.ts'

/** So that a search reads its lists side by side. */
const readers = 2

/** Takes the connection that has the least to do. */
export async function openReader(path: string): Promise<Reader> {
  const connections: { connection: Connection; busy: number }[] = []
  for (let count = 0; count < readers; count++) {
    const connection = await openConnection(path)
    await connection.exec('PRAGMA busy_timeout=5000; PRAGMA query_only=ON; PRAGMA cache_size=-8000')
    connections.push({ connection, busy: 0 })
  }
  return {
    async all(sql, parameters) {
      const taken = connections.reduce((least, each) => (each.busy < least.busy ? each : least))
      taken.busy++
      try {
        return await taken.connection.all(sql, parameters)
      } finally {
        taken.busy--
      }
    },
    async close() {
      for (const { connection } of connections) await connection.close()
    },
  }
}
