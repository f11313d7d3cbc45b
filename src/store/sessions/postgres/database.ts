import type { Logger } from '../../../core/logger.ts'
import type { WriteNumbers } from '../../../core/store.ts'
import type { Sql } from '../../postgres/connection.ts'
import type { Pools } from '../../postgres/pools.ts'
import type { Owners } from './owners.ts'
import type { Step } from './schema/steps.ts'

/** Hears what this process has committed, for those elsewhere who wait for it. Costs a look into a map. */
export interface Commits {
  /** The run has recorded events, has begun after it waited, has ended or was resumed. */
  recorded(runId: string): void
  /** Since a turn has ended, this waiting run is the next one of its session. `owner`: the key in its row. */
  freed(runId: string, owner: number): void
}

/** What the parts of the store work with. Transactions lock rows of `run` before those of `session`. */
export interface Database {
  pools: Pools
  /** Statements that change nothing, each by itself. */
  read: Sql
  /** A transaction, repeated as a whole after a deadlock. `bulk`: what may take long, one at a time. */
  work<T>(work: (sql: Sql) => Promise<T>, kind?: 'work' | 'bulk'): Promise<T>
  owners: Owners
  /** What this version knows of the tables. */
  steps: readonly Step[]
  /** Of the groups that were committed. */
  numbers: WriteNumbers
  /** Tell it after the commit, and once per run or more. */
  commits: Commits
  /** Of claims and cached answers. */
  now: () => string
  /** Maximum size of one read in bytes, unless a single run or session has more. */
  maxReadBytes: number
  logger: Logger
}
