import type { Connection } from '../../../postgres/connection.ts'
import { classify } from '../../../postgres/failure.ts'
import type { Pools } from '../../../postgres/pools.ts'
import { checkDatabase } from './database.ts'
import { type Prepared, prepareSchema } from './prepare.ts'
import type { Step } from './steps.ts'

export interface OpenSchemaOptions {
  steps: readonly Step[]
  contracts: boolean
}

const statementMs = 60_000

/** Checks the database and applies the steps that are missing. Throws what `checkDatabase` and `prepareSchema` throw. */
export async function openSchema(pools: Pools, { steps, contracts }: OpenSchemaOptions): Promise<void> {
  const { logger } = pools.options
  const connection = await pools.connect('setup', { statementMs })
  try {
    await checkDatabase(connection)
    const prepare = (all: boolean) => prepareOn(connection, pools, { steps, contracts: all })
    const { applied, waiting } = await prepare(false)
    if (applied.length > 0) logger.info({ steps: applied }, 'made what was missing of the tables')
    if (waiting.length === 0 || !contracts) return
    const later = await prepare(true).catch((error: unknown) => {
      if (classify(error) === 'away') throw error
      // This version works without them, and a role that may not change tables can't apply them.
      logger.warn({ error, steps: waiting }, 'steps of the tables could not be applied; run agentserve storage upgrade')
    })
    if (later === undefined) return
    if (later.applied.length > 0) logger.info({ steps: later.applied }, 'changed the tables: no older server is left')
    if (later.older.length > 0) {
      const older = later.older.map(({ owner, address, version }) => ({ instance: owner, address, version }))
      logger.info({ steps: later.waiting, older }, 'steps of the tables wait until no older server is left')
    }
  } finally {
    await connection.close()
  }
}

export function prepareOn(connection: Connection, pools: Pools, options: OpenSchemaOptions): Promise<Prepared> {
  return prepareSchema(connection, {
    schema: pools.options.schema,
    known: options.steps,
    contracts: options.contracts,
    another: () => pools.connect('index'),
  })
}
