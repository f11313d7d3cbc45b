import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Clock, Timers } from '../../core/time.ts'
import type { RecordedRuns } from '../events/reader.ts'
import type { RunBounds } from '../limits/run-budget.ts'
import type { Registry } from '../services.ts'
import type { ClientInstructions } from './given.ts'

/** What all runs of this process share. */
export interface RunServices {
  readonly store: SessionStore
  readonly recorded: RecordedRuns
  readonly registry: Registry
  readonly knowledge?: Knowledge | undefined
  readonly logger: Logger
  readonly clock: Clock
  readonly timers: Timers
  readonly bounds: RunBounds
  readonly requestTimeoutMs: number
  /** Default: `ignore` for keys of a user, else `append`. */
  readonly clientInstructions?: ClientInstructions | undefined
  /** Names this process in the store. */
  readonly owner: string
}
