import type { RunEvent } from '../../core/event.ts'
import type { RunHead } from '../../core/run.ts'
import type { SessionOverview } from '../../core/session.ts'

export interface LoadFailure {
  message: string
  file?: string
  line?: number
  excerpt?: string
}

/** The outcome of the latest reload of the agents. */
export interface AgentsLoaded {
  /** Grows with each attempt. */
  version: number
  ok: boolean
  error?: LoadFailure
}

export type LiveItem =
  | { type: 'hello' }
  | { type: 'session'; head: SessionOverview }
  | { type: 'session_deleted'; session_id: string }
  | { type: 'run'; run: RunHead }
  | { type: 'run_event'; event: RunEvent }
  | { type: 'agents'; agents: AgentsLoaded }
  | { type: 'knowledge' }
  | { type: 'reset'; reason: ResetReason }

/**
 * `restarted`: by another process, or too long ago. `behind`: more has changed than can be told. The others: sessions were
 * deleted together, or a user was erased, or what the user shares has changed, or a session has many runs that changed.
 */
export type ResetReason = 'restarted' | 'missed' | 'behind' | 'pruned' | 'erased' | 'shared' | 'runs'

export interface LiveBatch {
  /** What a reader has to name to go on after the batch. */
  id: number | undefined
  items: readonly LiveItem[]
}
