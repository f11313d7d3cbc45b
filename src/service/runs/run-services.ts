import type { AppError } from '../../core/error.ts'
import type { InputRequired, RunEvent } from '../../core/event.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'
import type { RunHead, RunRecord } from '../../core/run.ts'
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
  /** Names this process in the store, unless `peers` does. */
  readonly owner: string
  /** Called with the requests of a waiting run that was cancelled: nothing waits for an answer to them any more. */
  readonly onWaitCancelled?: ((requests: readonly InputRequired[]) => void) | undefined
  /** Other processes that write to the same store; absent where this one is alone. */
  readonly peers?: RunPeers | undefined
  /** Absent without telemetry. */
  readonly tracing?: RunTracing | undefined
}

/** Where a run is in its trace, since its start or last resumption. */
export interface RunPlace {
  /** Number of its first event. */
  firstSeq: number
  /** The run around it. */
  outer: { firstSeq: number } | undefined
  /** The outermost one: itself, when no run is around it. */
  outermost: Pick<RunRecord, 'run_id' | 'given'>
}

/** What makes spans of runs. */
export interface RunTracing {
  /** The header for calls that the run makes of other servers. */
  traceparent(run: Pick<RunRecord, 'run_id'>, place: RunPlace): string
  /** Its end or pause is recorded. Called on the hot path. */
  ended(run: RunRecord, place: RunPlace): void
}

/** What runs need of the other instances on their store. */
export interface RunPeers {
  /** Names this process in the store. Changes when it was taken for dead and has joined again. */
  readonly owner: string
  /** It can't be known whether its runs are another instance's by now: nothing may leave, and nothing begins. */
  readonly isHeld: boolean
  /** Resolves when that is over. */
  released(): Promise<void>
  /** The events after this number of a run that is under way elsewhere, until its end or pause. */
  events(run: RunHead, after: number, signal?: AbortSignal): AsyncIterable<readonly RunEvent[]>
  /** Resolves when its end or pause is recorded. */
  ended(runId: string): Promise<RunRecord>
  /** Asks for its end and waits until it is recorded. Undefined: it is not under way. Throws `unavailable` when it is late. */
  cancel(runId: string, reason: string, withinMs: number): Promise<RunRecord | undefined>
  /** Asks for its end. */
  ask(runId: string, reason: string): Promise<void>
  /** Whether all instances know this step of the tables, as of the last beat: what came with it may be written. */
  allKnow(step: number): boolean
  /** Readers of runs elsewhere get this error. */
  endTails(failure: AppError): void
}

export function ownerOf({ owner, peers }: Pick<RunServices, 'owner' | 'peers'>): string {
  return peers === undefined ? owner : peers.owner
}
