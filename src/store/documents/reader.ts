import { leastBusy } from '../../runtime/least-busy.ts'
import type { Connection } from '../sqlite/connection.ts'
import { openConnection } from '../sqlite/open-database.ts'
import { documentsDatabase } from './database.ts'

export interface Reader {
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Two, so that one search reads its lists in parallel. */
const connectionCount = 2

export async function openReader(path: string): Promise<Reader> {
  const connections: Connection[] = []
  const close = async () => {
    for (const connection of connections) await connection.close()
  }
  const opening = Array.from({ length: connectionCount }, async () => {
    connections.push(await openConnection(path, documentsDatabase, 'FULL', true))
  })
  // A failure closes them, so none may still be on its way.
  await Promise.allSettled(opening)
  try {
    await Promise.all(opening)
  } catch (error) {
    await close()
    throw error
  }
  return { read: leastBusy(connections), close }
}
