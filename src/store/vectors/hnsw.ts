import { createSerial } from '../../runtime/serial.ts'
import type { Connection } from '../postgres/connection.ts'
import { mostBeyond } from './beyond.ts'
import type { VectorDatabase } from './database.ts'
import { explaining, ListReplaced } from './failure.ts'
import { type FoundIndexes, findIndexes, nextIndexName, tally, usable } from './indexes.ts'
import { indexName, type List } from './lists.ts'

/** Below it, comparing with all vectors takes some 10 ms. */
const usualFromRows = 15_000
/** Writes without a pause put a build off no longer. */
const usualPatienceMs = 600_000
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
  /** More rows that the index does not have, and it is built anew; default: what `mostBeyond` says of its size. */
  mostBeyond?: number | undefined
  /** Pause in writing before the index is built; default 5 s. */
  quietMs?: number | undefined
  /** How long writes without such a pause put it off; default 10 min. */
  patienceMs?: number | undefined
  /** Pause before it is tried again, when another server builds or it failed; default 30 s. */
  againMs?: number | undefined
}

export interface HnswIndex {
  /** Looks whether the list has an index that can be used, and how many rows; plans a build that is due. */
  refresh(): Promise<void>
  readonly isThere: boolean
  /** The highest key in it; null: it has all rows. */
  readonly limit: number | null
  /** Rows that the index does not have, or all without one. As of the last look, and what was added here since. */
  readonly unindexed: number
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
  {
    indexedFromRows = usualFromRows,
    mostBeyond: most,
    quietMs = 5_000,
    patienceMs = usualPatienceMs,
    againMs = 30_000,
  }: IndexOptions,
): HnswIndex {
  const { read, logger, schema } = database
  const name = indexName(list.name)
  const nextName = nextIndexName(list.name)
  const qualified = (one: string) => `"${schema}"."${one}"`
  const explained = explaining(list)
  const builds = createSerial()
  const claims = createSerial()
  let found: FoundIndexes = { index: undefined, next: undefined }
  let rows = 0
  let beyond = 0
  let highest: number | null = null
  let isClosed = false
  let building: Connection | undefined
  let timer: NodeJS.Timeout | undefined
  let putOffSince: number | undefined
  /** As the database has it. */
  let claimedAt: string | undefined

  const look = async () => {
    found = await findIndexes(read, list)
    ;({ rows, beyond, highest } = await tally(read, list, usable(found)?.limit ?? null))
  }
  const isDue = () => {
    if (list.dimensions > mostDimensions) return false
    if (found.next) return true
    if (rows < indexedFromRows || highest === null) return false
    const used = usable(found)
    return used === undefined || used.limit === null || beyond > (most ?? mostBeyond(rows, list.dimensions))
  }
  const claim = async () => {
    const [row] = await database.work((sql) =>
      sql.all<{ at: string }>(
        `UPDATE vector_list SET index_claimed_at = clock_timestamp() WHERE list_key = $1
           AND (index_claimed_at IS NULL OR index_claimed_at < clock_timestamp() - interval '${claimSeconds} seconds')
         RETURNING index_claimed_at::text AS at`,
        [list.key],
      ),
    )
    claimedAt = row?.at
    return row !== undefined
  }
  /** Only its own: one that stood still for a minute has lost it, perhaps to another server. */
  const setClaim = (to: 'clock_timestamp()' | 'NULL') =>
    claims.run(async () => {
      if (claimedAt === undefined) return
      const [row] = await database.work((sql) =>
        sql.all<{ at: string | null }>(
          `UPDATE vector_list SET index_claimed_at = ${to} WHERE list_key = $1 AND index_claimed_at::text = $2
           RETURNING index_claimed_at::text AS at`,
          [list.key, claimedAt],
        ),
      )
      claimedAt = row?.at ?? undefined
    })
  /** The database finishes what a server that is gone has begun. */
  const isUnderWay = async () => {
    const builds = await read.all(
      `SELECT 1 FROM pg_stat_progress_create_index JOIN pg_class ON pg_class.oid = relid
         JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE datname = current_database() AND nspname = current_schema() AND relname = $1`,
      [`vec_${list.name}`],
    )
    return builds.length > 0
  }
  const drop = (connection: Connection, one: string) =>
    connection.exec(`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(one)}`)
  /** Under its lasting name, or beside an index that searches use meanwhile. */
  const make = async (connection: Connection) => {
    for (const one of [found.index, found.next]) if (one?.isValid === false) await drop(connection, one.name)
    await look()
    if (!isDue()) return
    await connection.exec(
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS "${found.index ? nextName : name}" ON ${qualified(`vec_${list.name}`)}
         USING hnsw (embedding ${operators}) WITH (ef_construction = ${construction})
         WHERE chunk_key <= '${highest}'::bigint`,
    )
    await look()
  }
  /** Searches that still ask for the lower limit can use an index of a higher one. */
  const replace = async (connection: Connection) => {
    await drop(connection, name)
    await connection.exec(`ALTER INDEX ${qualified(nextName)} RENAME TO "${name}"`)
  }
  const execute = async () => {
    const neededMb = Math.ceil((rows * (list.dimensions * 2 + graphBytes) * 1.2) / 2 ** 20)
    const maintenanceMb = Math.min(mostMemoryMb, Math.max(leastMemoryMb, neededMb))
    // Each statement by itself: an index can't be built beside writes in a transaction.
    const connection = await database.connect('vector index', { lockMs: 0, maintenanceMb })
    // `close` could not end it yet.
    if (isClosed) return connection.close()
    building = connection
    try {
      await look()
      if (!found.next?.isValid) await make(connection)
      if (found.next?.isValid) await replace(connection)
    } finally {
      building = undefined
      if (!isClosed) await connection.close()
    }
  }
  const build = async () => {
    await look()
    if (!isDue()) return
    if ((await isUnderWay()) || !(await claim())) return later(againMs)
    const before = usable(found)
    const renewing = setInterval(() => void setClaim('clock_timestamp()').catch(() => undefined), renewMs)
    const begunMs = performance.now()
    try {
      await execute()
    } finally {
      clearInterval(renewing)
      await setClaim('NULL').catch(() => undefined)
    }
    await look()
    const seconds = Math.round((performance.now() - begunMs) / 1_000)
    if (usable(found)?.limit !== before?.limit)
      logger.info({ list: list.name, vectors: rows, seconds }, 'the index of the vectors is built')
    if (isDue()) later(againMs)
  }
  const buildInTurn = () =>
    builds.run(async () => {
      if (!isClosed) await build()
    })
  const later = (ms: number) => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(() => {
      timer = undefined
      putOffSince = undefined
      explained(buildInTurn).catch((error: unknown) => {
        // Whoever uses the list next opens the one that is there now.
        if (isClosed || error instanceof ListReplaced) return
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
    async refresh() {
      await look()
      if (timer === undefined && isDue()) later(quietMs)
    },
    get isThere() {
      return usable(found) !== undefined
    },
    get limit() {
      return usable(found)?.limit ?? null
    },
    get unindexed() {
      return usable(found) ? beyond : rows
    },
    added(count) {
      rows += count
      if (usable(found)?.limit != null) beyond += count
      putOffSince ??= performance.now()
      if (timer === undefined || performance.now() - putOffSince < patienceMs) later(quietMs)
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
