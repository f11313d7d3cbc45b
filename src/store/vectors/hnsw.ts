import { createSerial } from '../../runtime/serial.ts'
import type { Connection } from '../postgres/connection.ts'
import type { VectorDatabase } from './database.ts'
import { countAll } from './generations.ts'
import { indexName, type List } from './lists.ts'

/** Below it, comparing with all vectors takes some 10 ms. */
const usualFromRows = 15_000
/** pgvector indexes no longer ones. */
const mostDimensions = 4_000
/** One server builds. It renews its claim until it is done, by the clock of the database. */
const claimSeconds = 60
const renewMs = 15_000
/** Twice the default: the index takes half as long again to build, and half as many of the nearest are missed. */
const construction = 128
const leastMemoryMb = 64
const mostMemoryMb = 512
/** A row of the graph beside its vector. */
const graphBytes = 350

export interface IndexOptions {
  /** Rows from which a list gets an index; default 15,000. */
  indexedFromRows?: number | undefined
  /** Pause in writing before the index is built; default 5 s. */
  quietMs?: number | undefined
  /** Pause before it is tried again, when another server builds or it failed; default 30 s. */
  againMs?: number | undefined
}

export interface HnswIndex {
  /** Looks whether the list has an index that can be used, and how many rows. */
  refresh(): Promise<void>
  readonly isThere: boolean
  /** As of the last look, and what was added here since. */
  readonly rows: number
  added(rows: number): void
  /** Builds it if it is due, unless another server does. */
  build(): Promise<void>
  /** Leaves a build to the database, which finishes it. */
  close(): Promise<void>
}

/** The index of a list, built in the background beside writes and searches. */
export function hnswIndex(
  database: VectorDatabase,
  list: List,
  operators: string,
  { indexedFromRows = usualFromRows, quietMs = 5_000, againMs = 30_000 }: IndexOptions,
): HnswIndex {
  const { read, logger, schema } = database
  const name = indexName(list.name)
  const qualified = (one: string) => `"${schema}"."${one}"`
  const builds = createSerial()
  let isThere = false
  let rows = 0
  let isClosed = false
  let building: Connection | undefined
  let timer: NodeJS.Timeout | undefined

  const state = async (): Promise<'none' | 'valid' | 'broken'> => {
    const [found] = await read.all<{ valid: boolean }>(
      `SELECT indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
         JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = current_schema() AND relname = $1`,
      [name],
    )
    if (found === undefined) return 'none'
    return found.valid ? 'valid' : 'broken'
  }
  const refresh = async () => {
    isThere = (await state()) === 'valid'
    rows = await countAll(read, list)
  }
  const claim = async () => {
    const claimed = await database.work((sql) =>
      sql.run(
        `UPDATE vector_list SET index_claimed_at = clock_timestamp() WHERE list_key = $1
           AND (index_claimed_at IS NULL OR index_claimed_at < clock_timestamp() - interval '${claimSeconds} seconds')`,
        [list.key],
      ),
    )
    return claimed === 1
  }
  const setClaim = (to: 'clock_timestamp()' | 'NULL') =>
    database.work((sql) => sql.run(`UPDATE vector_list SET index_claimed_at = ${to} WHERE list_key = $1`, [list.key]))
  /** The database finishes what a server that is gone has begun. */
  const isUnderWay = async () => {
    const found = await read.all(
      `SELECT 1 FROM pg_stat_progress_create_index JOIN pg_class ON pg_class.oid = relid
         JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = current_schema() AND relname = $1`,
      [`vec_${list.name}`],
    )
    return found.length > 0
  }
  const execute = async () => {
    const connection = await database.connect('vector index')
    building = connection
    try {
      const neededMb = Math.ceil((rows * (list.dimensions * 2 + graphBytes) * 1.2) / 2 ** 20)
      const memoryMb = Math.min(mostMemoryMb, Math.max(leastMemoryMb, neededMb))
      // Each statement by itself: an index can't be built beside writes in a transaction.
      await connection.exec('SET statement_timeout = 0')
      await connection.exec('SET lock_timeout = 0')
      await connection.exec(`SET maintenance_work_mem = '${memoryMb}MB'`)
      if ((await state()) === 'broken') await connection.exec(`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(name)}`)
      await connection.exec(
        `CREATE INDEX CONCURRENTLY IF NOT EXISTS "${name}" ON ${qualified(`vec_${list.name}`)}
           USING hnsw (embedding ${operators}) WITH (ef_construction = ${construction})`,
      )
    } finally {
      building = undefined
      if (!isClosed) await connection.close()
    }
  }
  const build = async () => {
    await refresh()
    if (isThere || rows < indexedFromRows || list.dimensions > mostDimensions) return
    if ((await isUnderWay()) || !(await claim())) return later(againMs)
    const renewing = setInterval(() => void setClaim('clock_timestamp()').catch(() => undefined), renewMs)
    const begunMs = performance.now()
    try {
      await execute()
    } finally {
      clearInterval(renewing)
      await setClaim('NULL').catch(() => undefined)
    }
    await refresh()
    const seconds = Math.round((performance.now() - begunMs) / 1_000)
    logger.info({ list: list.name, vectors: rows, seconds }, 'the index of the vectors is built')
  }
  const buildInTurn = () =>
    builds.run(async () => {
      if (!isClosed) await build()
    })
  const later = (ms: number) => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(() => {
      buildInTurn().catch((error: unknown) => {
        if (isClosed) return
        logger.warn(
          { err: error, list: list.name },
          'the index of the vectors could not be built; searches work without it',
        )
        later(againMs)
      })
    }, ms).unref()
  }
  later(quietMs)

  return {
    refresh,
    get isThere() {
      return isThere
    },
    get rows() {
      return rows
    },
    added(count) {
      rows += count
      if (!isThere) later(quietMs)
    },
    build: buildInTurn,
    async close() {
      isClosed = true
      clearTimeout(timer)
      building?.destroy()
      await builds.idle()
    },
  }
}
