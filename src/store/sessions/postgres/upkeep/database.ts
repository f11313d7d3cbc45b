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
  use: (connection: Connection) => Promise<T>,
  limits = { statementMs },
): Promise<T> {
  const connection = await new Pools({ ...options, logger: silentLogger }).connect('command', limits)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}
