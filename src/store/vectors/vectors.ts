import type { VectorStore } from '../../core/knowledge/drivers.ts'
import { closeAll } from '../../runtime/close-all.ts'
import { oneUse } from '../../runtime/once.ts'
import { type CopyOptions, copiedTable, copyName } from './copied.ts'
import type { VectorDatabase } from './database.ts'
import { lookForExtension } from './extension.ts'
import { dropList, findList, hasExtension, isWhole, type List, listNames, openList } from './lists.ts'
import { type ClosableTable, type PgvectorOptions, pgvectorTable } from './pgvector.ts'
import { reopening } from './reopening.ts'

export interface PostgresVectorOptions extends PgvectorOptions, CopyOptions {
  database: VectorDatabase
  /** Where this process keeps copies of lists that the database can't search. */
  copies: VectorStore
}

/**
 * Vectors in a Postgres database, one table a list, for any number of processes. With pgvector the database searches them;
 * without it, it keeps them, and each process searches a copy of its own.
 */
export function postgresVectors({ database, copies, ...options }: PostgresVectorOptions): VectorStore {
  const tables = new Map<string, Promise<ClosableTable>>()
  const use = oneUse(database)
  let tidied: Promise<void> | undefined
  /** Removes copies of lists that are no more. Nobody else uses them. */
  const tidyCopies = async () => {
    const wanted = new Set((await listNames(database)).map(copyName))
    for (const name of await copies.names()) if (!wanted.has(name)) await copies.drop(name)
  }
  const told = new Set<string>()
  /** Once, not for each list. */
  const tell = (message: string) => {
    if (!told.has(message)) database.logger.info({}, message)
    told.add(message)
  }
  const openTable = async (list: List): Promise<ClosableTable> => {
    const { name } = list
    const extension = await lookForExtension(database)
    if (list.form === 'halfvec') {
      if (!hasExtension(extension)) throw new Error(`the vectors of ${name} need pgvector: ${extension.reason}`)
      tell(`pgvector ${extension.version} searches the vectors in the database`)
      return pgvectorTable(database, list, extension, options)
    }
    const held = `the database keeps the vectors, and this server searches a copy in ${copies.location}`
    tell(
      hasExtension(extension)
        ? `pgvector ${extension.version} is there since the vectors were written: run 'agentserve knowledge reindex' to use it. Until then ${held}`
        : `${extension.reason}: ${held}`,
    )
    tidied ??= tidyCopies().catch((error: unknown) => {
      tidied = undefined
      throw error
    })
    await tidied
    return copiedTable(database, list, copies, options)
  }
  /** The vectors are lost; the caller writes them again. */
  const dropBroken = async (list: List) => {
    database.logger.warn({ list: list.name }, 'the database lost the vectors of a list; they are made again')
    await dropList(database, list.name, list.key)
  }
  const openFirst = async (name: string, dimensions: number) => {
    await use.open()
    let list = await openList(database, name, dimensions)
    if (!(await isWhole(database, list))) {
      await dropBroken(list)
      list = await openList(database, name, dimensions)
    }
    return reopening(await openTable(list), async () => {
      const now = await findList(database, name)
      if (now?.dimensions !== dimensions) return undefined
      if (await isWhole(database, now)) return openTable(now)
      await dropBroken(now)
      tables.delete(name)
      throw new Error('the database lost the vectors, perhaps with the extension vector')
    })
  }
  const close = async (table: Promise<ClosableTable>) => {
    await table.then((open) => open.close()).catch(() => undefined)
  }

  return {
    type: 'postgres',
    location: 'Postgres',
    atomic: true,
    async names() {
      await use.open()
      return (await listNames(database)).map(({ name }) => name)
    },
    table(name, dimensions) {
      const known = tables.get(name)
      if (known) return known
      const table: Promise<ClosableTable> = openFirst(name, dimensions).catch((error: unknown) => {
        if (tables.get(name) === table) tables.delete(name)
        throw error
      })
      tables.set(name, table)
      return table
    },
    async drop(name) {
      const open = tables.get(name)
      tables.delete(name)
      await open?.then((table) => table.abandon()).catch(() => undefined)
      await use.open()
      const list = await findList(database, name)
      await dropList(database, name)
      if (list?.form === 'bytea') await copies.drop(copyName(list))
    },
    async close() {
      const open = [...tables.values()]
      tables.clear()
      for (const table of open) await close(table)
      await closeAll(copies.close, use.close)
    },
  }
}
