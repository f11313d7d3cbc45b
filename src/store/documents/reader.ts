import type { Connection } from '../sqlite/connection.ts'
import { openConnection } from '../sqlite/open-database.ts'
import { documentsDatabase } from './schema.ts'
import type { Reader } from './writer.ts'

/** So that a search reads its lists side by side. */
const connectionCount = 2

/** Reads on the connection that has the least to do. */
export async function openReader(path: string): Promise<Reader> {
  const connections: { connection: Connection; busy: number }[] = []
  const close = async () => {
    for (const { connection } of connections) await connection.close()
  }
  try {
    while (connections.length < connectionCount)
      connections.push({ connection: await openConnection(path, documentsDatabase, 'FULL', true), busy: 0 })
  } catch (error) {
    await close()
    throw error
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
    close,
  }
}
