import { AppError } from '../../../core/error.ts'
import { type Logger, silentLogger } from '../../../core/logger.ts'
import type { SessionStore } from '../../../core/store.ts'
import { type Clock, timestamp } from '../../../core/time.ts'
import type { Sql } from '../../postgres/connection.ts'
import { toStoreError } from '../../postgres/failure.ts'
import { Pools } from '../../postgres/pools.ts'
import type { PostgresOptions } from '../../postgres/settings.ts'
import { auditStore } from './audit.ts'
import { postgresCluster } from './cluster/cluster.ts'
import type { Database } from './database.ts'
import { tidy, tidyWhenDue } from './expiry.ts'
import { factStore } from './facts.ts'
import { files } from './files/files.ts'
import { keys } from './keys.ts'
import { Owners } from './owners.ts'
import { pushStore } from './push.ts'
import { reading } from './reading/reading.ts'
import { scheduleStore } from './schedules.ts'
import { openSchema } from './schema/open.ts'
import { steps as allSteps, type Step } from './schema/steps.ts'
import { searching } from './search/search.ts'
import { sessions } from './sessions.ts'
import { summaries } from './summaries.ts'
import { webhookStore } from './webhooks.ts'
import { writing } from './writing/writing.ts'

const usualReadBytes = 32 * 1024 * 1024

export interface PostgresStoreOptions extends Omit<PostgresOptions, 'logger' | 'schema' | 'connections'> {
  /** Default: `agentserve`. */
  schema?: string | undefined
  /** `pooled`: the address leads to a pooler in transaction mode. Default: `direct`. */
  connections?: PostgresOptions['connections'] | undefined
  logger?: Logger | undefined
  /** Used for the expiry of claims; default `Date.now`. */
  clock?: Clock | undefined
  /** Maximum size of one read, unless a single run or session has more; default 32 MB. */
  maxReadBytes?: number | undefined
  /** Whether it applies steps that older versions can't work with, once none of those lives. Default: no. */
  contracts?: boolean | undefined
  /** The steps of the tables that this version knows; default: all. */
  steps?: readonly Step[] | undefined
}

/** Sessions and runs in a Postgres database, for any number of processes. */
export function postgresStore(options: PostgresStoreOptions): SessionStore {
  const { schema = 'agentserve', connections = 'direct', logger = silentLogger, clock = Date.now } = options
  const { steps = allSteps, contracts = false } = options
  let pools: Pools | undefined

  const opened = (): Pools => {
    if (pools === undefined) throw new AppError('unavailable', 'The session store is not open.')
    return pools
  }
  const telling = async <T>(use: () => Promise<T>): Promise<T> => {
    try {
      return await use()
    } catch (error) {
      throw toStoreError(error)
    }
  }
  const read: Sql = {
    all: (text, params, plan) => telling(() => opened().read.all(text, params, plan)),
    run: (text, params) => telling(() => opened().read.run(text, params)),
  }
  const owners = new Owners({ all: (text, params) => telling(() => opened().work((sql) => sql.all(text, params))) })
  const database: Database = {
    get pools() {
      return opened()
    },
    read,
    work: (work, kind) => telling(() => opened().work(work, kind)),
    owners,
    steps,
    numbers: { commits: 0, writes: 0, commitMs: 0 },
    get commits() {
      return clustering.wires
    },
    now: () => timestamp(clock()),
    maxReadBytes: options.maxReadBytes ?? usualReadBytes,
    logger,
  }

  async function open(): Promise<void> {
    if (pools !== undefined) return
    const opening = new Pools({ ...options, schema, connections, logger })
    await telling(() => openSchema(opening, { steps, contracts }))
    pools = opening
    try {
      await telling(runs.open)
    } catch (error) {
      pools = undefined
      await opening.close()
      throw error
    }
  }

  const runs = writing(database)
  const tidyIfDue = tidyWhenDue(database)
  const clustering = postgresCluster(database, () =>
    runs.abandon(new AppError('unavailable', 'This server was taken for dead. Retry in a moment.')),
  )
  return {
    name: 'postgres',
    cluster: clustering.cluster,
    open,
    async close() {
      await runs.close()
      if (pools !== undefined) await clustering.close()
      const closing = pools
      pools = undefined
      await closing?.close()
    },
    async check() {
      await database.work((sql) => sql.all('SELECT 1'))
    },
    numbers: () => ({ ...database.numbers }),
    async recover(owner, at) {
      await tidy(database)
      return clustering.recovery.recover(owner, at)
    },
    ...searching(database),
    ...runs.methods,
    startRun(start) {
      if (start.claim !== null) tidyIfDue()
      return runs.methods.startRun(start)
    },
    ...reading(database),
    ...sessions(database, runs.certain, tidyIfDue),
    ...files(database),
    ...keys(database, runs.certain, tidyIfDue),
    ...summaries(database),
    ...pushStore(database),
    ...factStore(database),
    ...scheduleStore(database),
    ...webhookStore(database),
    ...auditStore(database),
  }
}
