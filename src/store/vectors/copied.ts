import { isAppError } from '../../core/error.ts'
import type { VectorStore } from '../../core/knowledge/drivers.ts'
import { byteaForm, toBinaryArray } from './binary.ts'
import { copyOf } from './copy.ts'
import type { VectorDatabase } from './database.ts'
import { explaining, ListReplaced } from './failure.ts'
import { generationsOf } from './generations.ts'
import type { List } from './lists.ts'
import type { ClosableTable } from './pgvector.ts'

export interface CopyOptions {
  /** How long a search waits for the copy; default 2 s. Then it finds what is there. */
  waitMs?: number | undefined
  /** How often the copy is brought forward without a search; default 5 s. */
  everyMs?: number | undefined
}

const rowsAtOnce = 1_000

/** A list that the database only keeps. Searches use a copy of this process, which is brought forward before each. */
export function copiedTable(
  database: VectorDatabase,
  list: List,
  copies: VectorStore,
  { waitMs = 2_000, everyMs = 5_000 }: CopyOptions,
): ClosableTable {
  const copy = copyOf(database, list, copies, copyName(list))
  const insert = `INSERT INTO ${list.table} (chunk_key, generation, embedding)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) ON CONFLICT DO NOTHING`
  const work = new Set<Promise<void>>()
  let isClosed = false

  const explained = explaining(list)
  const bring = (): Promise<void> => {
    const bringing = explained(() => copy.bring())
    const done = bringing.catch(() => undefined).finally(() => work.delete(done))
    work.add(done)
    return bringing
  }
  const bringQuietly = async () => {
    try {
      await bring()
    } catch (error) {
      database.logger.debug({ err: error, list: list.name }, 'vectors were not copied')
      // Nobody may ask for a list that another server has dropped.
      if (!(error instanceof ListReplaced)) return
      await discard()
    }
  }
  const discard = async () => {
    clearInterval(regularly)
    await copy.discard().catch((error: unknown) => {
      database.logger.warn({ err: error, list: list.name }, 'a copy of vectors is removed by the next start')
    })
  }
  const regularly = setInterval(() => {
    if (work.size === 0) void bringQuietly()
  }, everyMs).unref()

  /** Resolves early when it takes long. */
  const broughtSoon = async () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    bring().then(resolve, reject)
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }

  const close = async () => {
    isClosed = true
    clearInterval(regularly)
    await copy.stop()
    await Promise.all(work)
  }

  return {
    async add(rows) {
      for (let from = 0; from < rows.length; from += rowsAtOnce) {
        const some = rows.slice(from, from + rowsAtOnce)
        const chunks = some.map(({ chunk }) => chunk)
        const generations = some.map(({ generation }) => generation)
        const vectors = toBinaryArray(some, list.dimensions, byteaForm)
        await explained(() => database.owned((sql) => sql.all(insert, [chunks, generations, vectors])))
      }
    },
    async search(...asked) {
      await broughtSoon()
      try {
        return await (await copy.table).search(...asked)
      } catch (error) {
        if (isAppError(error) || error instanceof TypeError || isClosed) throw error
        database.logger.warn({ err: error, list: list.name }, 'the copy of the vectors is damaged and is made again')
        await copy.discard()
        await broughtSoon()
        return (await copy.table).search(...asked)
      }
    },
    ...generationsOf(database, list),
    compact: async () => (await copy.table).compact(),
    close,
    async abandon() {
      await close()
      await discard()
    },
  }
}

/** Not of another list that had the same name. */
export function copyName({ name, key }: Pick<List, 'name' | 'key'>): string {
  return `${name}_l${key}`
}
