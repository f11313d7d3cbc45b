import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import type { ConnectionMode, Sql } from '../../../src/store/postgres/connection.ts'
import { toStoreError } from '../../../src/store/postgres/failure.ts'
import { Pools } from '../../../src/store/postgres/pools.ts'
import { openSchema } from '../../../src/store/sessions/postgres/schema/open.ts'
import { steps } from '../../../src/store/sessions/postgres/schema/steps.ts'
import type { VectorDatabase } from '../../../src/store/vectors/database.ts'

/** A database for vectors alone. */
export function vectorDatabase(
  url: string,
  schema: string,
  { connections = 'direct', logger = silentLogger }: { connections?: ConnectionMode; logger?: Logger } = {},
): VectorDatabase {
  const pools = new Pools({ url, schema, connections, logger })
  const telling = <T>(use: Promise<T>) => use.catch((error: unknown) => Promise.reject(toStoreError(error)))
  const reading = (sql: Sql): Sql => ({
    all: (...asked) => telling(sql.all(...asked)),
    run: (...asked) => telling(sql.run(...asked)),
  })
  const work = <T>(does: (sql: Sql) => Promise<T>, kind?: 'work' | 'bulk') => telling(pools.work(does, kind))
  return {
    schema,
    logger,
    read: reading(pools.read),
    vectors: reading(pools.vectors),
    work,
    owned: (does) => work(does),
    connect: (purpose, limits) => telling(pools.connectPast(purpose, limits)),
    open: () => openSchema(pools, { steps, contracts: false }),
    close: () => pools.close(),
  }
}
