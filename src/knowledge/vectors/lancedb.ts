import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import type { Connection } from '@lancedb/lancedb'
import type { VectorStore } from '../../core/knowledge/drivers.ts'
import { createSerial } from '../../runtime/serial.ts'
import type { IndexLimits } from './indexing.ts'
import { type OpenTable, openTable } from './lance-table.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** LanceDB's own default grows up to 7 GB. */
const indexCacheBytes = 256n * 1024n * 1024n
const metadataCacheBytes = 16n * 1024n * 1024n
const tableName = /^[A-Za-z0-9_]{1,64}$/

export interface LanceOptions extends IndexLimits {
  folder: string
  /** Pause in writing before files are compacted and the index is built. */
  quietMs?: number
}

/**
 * Vectors in a LanceDB folder, one table per name. LanceDB and Arrow are loaded with the first table. Searches of a
 * small table are exact; a large one gets an index in the background, and its searches are exact among the candidates.
 * LanceDB does not sync its files: the caller must be able to write the vectors again.
 */
export function lanceVectors({ folder, quietMs = 5_000, ...limits }: LanceOptions): VectorStore {
  const turns = createSerial()
  // By default, sessions and indexes leave vectors in the shared temporary folder, where other users could read them.
  const temporary = temporaryFolder(join(resolve(folder), 'temporary'))
  let opening: Promise<Connection> | undefined
  const tables = new Map<string, Promise<OpenTable>>()
  /** A table that is opened meanwhile would lose its files. */
  const dropping = new Map<string, Promise<void>>()

  const connect = async (): Promise<Connection> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // In two steps, so that other work can run in between.
    await import('./arrow.ts')
    await yieldToLoop()
    const { connect: open, Session } = await loadLance()
    temporary.open()
    return open(folder, { session: temporary.sync(() => new Session(indexCacheBytes, metadataCacheBytes)) })
  }
  const connection = (): Promise<Connection> => {
    opening ??= connect().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const names = async () => (await connection()).tableNames({ limit: 100_000 })
  const removeTable = async (name: string, open: Promise<OpenTable> | undefined, before: Promise<void> | undefined) => {
    await before
    await open?.then((table) => table.close()).catch(() => undefined)
    const known = await names().catch((): string[] => [])
    if (known.includes(name)) await connection().then((database) => database.dropTable(name).catch(() => undefined))
    // Files that LanceDB no longer recognises as a table would prevent the next one.
    await rm(join(folder, `${name}.lance`), { recursive: true, force: true })
  }

  return {
    type: 'lancedb',
    location: folder,
    names,
    table(name, dimensions) {
      if (!tableName.test(name)) throw new TypeError(`not a table name: ${name}`)
      const known = tables.get(name)
      if (known) return known
      const table: Promise<OpenTable> = Promise.resolve(dropping.get(name))
        .then(connection)
        .then((database) =>
          openTable(database, name, dimensions, {
            limits,
            turns,
            quietMs,
            temporary,
            folder: join(folder, `${name}.lance`),
          }),
        )
        .catch((error: unknown) => {
          if (tables.get(name) === table) tables.delete(name)
          throw error
        })
      tables.set(name, table)
      return table
    },
    async drop(name) {
      if (!tableName.test(name)) throw new TypeError(`not a table name: ${name}`)
      const open = tables.get(name)
      tables.delete(name)
      const before = dropping.get(name)
      const work = removeTable(name, open, before)
      const settled = work.catch(() => undefined)
      dropping.set(name, settled)
      await work.finally(() => {
        if (dropping.get(name) === settled) dropping.delete(name)
      })
    },
    async close() {
      const open = [...tables.values()]
      tables.clear()
      // What could not be opened was told to who asked for it.
      for (const table of open) await (await table.catch(() => undefined))?.close()
      await Promise.all(dropping.values())
      const closing = opening
      opening = undefined
      if (!closing) return
      ;(await closing).close()
      temporary.close()
    },
  }
}

/** Throws with what to do when the package of this platform, which has the native code, is missing or can't be loaded. */
export async function loadLance(): Promise<typeof import('@lancedb/lancedb')> {
  process.env.LANCEDB_LOG ??= 'error'
  try {
    return await import('@lancedb/lancedb')
  } catch (cause) {
    const platform = `${process.platform}-${process.arch}`
    throw new Error(`LanceDB does not load on ${platform}; install agentserve again with its optional packages`, {
      cause,
    })
  }
}
