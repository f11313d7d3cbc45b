import type { AgainEdit } from '../../core/again/again.ts'
import type { AgainAfter, AgainKeep, Run } from '../../core/run.ts'

export interface AgainRequest {
  /** The number of an event; absent: the whole run. */
  from?: number | undefined
  edit?: AgainEdit | undefined
  after: AgainAfter
  /** How many such runs. */
  times: number
  keep: AgainKeep
}

/** What becomes of a try that is kept. */
export type KeptAs = Exclude<AgainKeep, 'no'>

export type StartedRun = Pick<Run, 'run_id' | 'session_id'>
