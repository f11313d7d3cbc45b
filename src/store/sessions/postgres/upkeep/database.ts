import { silentLogger } from '../../../../core/logger.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { Pools } from '../../../postgres/pools.ts'
import type { PostgresOptions } from '../../../postgres/settings.ts'

/* Commands that work directly on the database, without a server. */

export type DatabaseOptions = Omit<PostgresOptions, 'logger'>

const statementMs = 60_000

/** Fails with what the library throws: see `explainRefusal`. */
export async function withDatabase<T>(
  options: DatabaseOptions,
  use: (connection: Connection, pools: Pools) => Promise<T>,
  limits: { statementMs?: number } = { statementMs },
): Promise<T> {
  const pools = new Pools({ ...options, logger: silentLogger })
  const connection = await pools.connect('command', limits)
  try {
    return await use(connection, pools)
  } finally {
    await connection.close()
  }
}
