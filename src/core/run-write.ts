import type { RunEvent, SourceEvent } from './event.ts'
import type { Json, JsonObject } from './json.ts'
import type { Message } from './message.ts'
import type { CancellationReason, ModelUsage, RunError, RunRecord, RunStatus, Usage, Waiting } from './run.ts'
import type { SessionSeed } from './session.ts'

/* What a run writes to the session store, and what comes of it. The rules are those of store.ts. */

/** An idempotency key: a retried request finds the first one. `key` has the caller and the route; `hash` is of the body. */
export interface Claim {
  key: string
  hash: string
  expires_at: string
  /** Of a run's start: the run that has the key now. The start takes it over, unless the key has become another's meanwhile. */
  over?: string | undefined
}

/** What is stored under a key: the run it started, the answer it got, or neither while the request is being handled. */
export interface ClaimRecord {
  key: string
  hash: string
  run_id: string | null
  answer: Json | null
}

export interface RunStart {
  /** Status `running` or `queued`. */
  run: RunRecord
  /** The input; also in `run.messages`. */
  message: Message
  /** Created with the run when it does not exist yet. Null: a missing session is `session_missing`. */
  session: SessionSeed | null
  /** Merged into the session's state, key by key, when the run starts. */
  state: JsonObject | null
  claim: Claim | null
  /** The process that runs it. Later writes are checked against it and the fence. */
  owner: string
  /** Only the run may see the message until it is `checked`. */
  unchecked?: boolean | undefined
  /**
   * A turn of the session: the same commit marks it and all later turns as replaced by this run. When the run begins, the
   * session gets the state from before the first of them that changed it. A summary that covers one of them is deleted,
   * and its job scheduled.
   */
  replaces?: string | undefined
  /**
   * What a start in `running` becomes when another run of the session is active: `busy` (default), or a run in `queued`. With
   * `queue`, a start that waits is `full` when too many do. The only process of a store knows the queue by itself.
   */
  whenBusy?: 'refuse' | 'queue' | undefined
}

export type RunStarted =
  /** `superseded`: the replaced turns that have not ended. The caller cancels them. */
  | {
      outcome: 'started' | 'queued'
      fence: number
      created_session: boolean
      superseded?: string[]
      /**
       * Of the session, after this write. Only from a store that other processes write to, which raises it with each change of
       * what `readHistory`, `readBasis` and `findSummary` give; of a message that is checked, with the end of its run.
       */
      revision?: number
      /** Tells the session from earlier ones with its id; comes with `revision`. */
      birth?: number
    }
  | { outcome: 'session_missing' }
  /** The session already has a run in `running`. */
  | { outcome: 'busy' }
  /** As many runs of the session wait, those of all processes, as may. */
  | { outcome: 'full' }
  /** `replaces` is no turn of the session. */
  | { outcome: 'turn_missing' }
  /** Another run has taken the place of that turn. */
  | { outcome: 'replaced'; by: string }
  /** The key is taken: by a run, an answer, or a request still being handled. Nothing was written. */
  | { outcome: 'claimed'; claim: ClaimRecord }

/** Events to append, with reserved numbers. Writing the same numbers again changes nothing. */
export interface RunBatch {
  run_id: string
  fence: number
  events: readonly RunEvent[]
  /** Numbers up to here may be used before they are recorded; at least 1,000 beyond the last event. */
  reserve_until: number
  /** The message of the run may be seen. */
  checked?: boolean | undefined
}

/** `gone`: deleted, or ended. `fenced`: another process has taken the run over. In both cases the caller stops. */
export type EventsAppended = 'ok' | 'gone' | 'fenced'

/** `wait`: the session has another run in `running`, or one that waits and came first. `gone`: it is no longer queued. */
export type RunBegun = 'begun' | 'wait' | 'gone'

/** Resumes a paused run in one step: a second resume gets `moved_on`. */
export interface RunResume {
  run_id: string
  /** Its session; absent for a run inside of another one. */
  turn_of?: string
  /** Identifies the pause. */
  end_seq: number
  owner: string
  at: string
  /** With numbers after `end_seq`. */
  events: readonly RunEvent[]
  reserve_until: number
}

export type RunResumed =
  | { outcome: 'resumed'; fence: number }
  /** The session has a run in `running`. Nothing was written, as in the other cases. */
  | { outcome: 'busy' }
  /** It is no longer at this pause, or can't be resumed. */
  | { outcome: 'moved_on' }
  | { outcome: 'missing' }

export interface RunEnd {
  run_id: string
  /** Null: the run is paused and has no owner. It can then only be cancelled, and keeps its messages. */
  fence: number | null
  status: Exclude<RunStatus, 'queued' | 'running'>
  completed_at: string
  end_seq: number
  cancellation_reason: CancellationReason | null
  error: RunError | null
  cache_hit: boolean
  usage: Usage | null
  usage_by_model?: readonly ModelUsage[] | undefined
  /** Events not appended yet. */
  events: readonly RunEvent[]
  /** The output, even when it is partial. */
  messages: readonly Message[]
  sources: readonly SourceEvent[]
  /** What a paused run waits for. Default: nothing. */
  waiting?: readonly Waiting[] | undefined
  /** Replaces the session's state when given. */
  state?: JsonObject | null
  /** The message of the run may be seen. */
  checked?: boolean | undefined
  /** Runs whose input was refused: the same commit removes it from them and their child runs (core/refusal.ts). */
  refused?: readonly string[] | undefined
  /**
   * It said nothing, so the turns that it replaced come back in the same commit, with the state that they left; this run is
   * replaced by the first of them. Changes nothing for a run that replaced none, or that is replaced itself.
   */
  bringsBack?: boolean | undefined
}

export type RunFinished = 'ok' | 'already_final' | 'fenced' | 'missing'

export type TurnRestored =
  | { outcome: 'restored' }
  | { outcome: 'missing' }
  /** It is part of the conversation already. */
  | { outcome: 'current' }
  /** A turn of the session is under way or waits. */
  | { outcome: 'busy'; run_id: string }

/** Makes an ended try a turn that takes the place of the one that it tried again. Its record stays as it is. */
export interface KeptTry {
  run_id: string
  /** The turn of the session's conversation that it tried again. */
  turn: string
  at: string
}

export type TryKept =
  | { outcome: 'kept' }
  | TryNotKept
  /** `turn` is no turn of the try's session. */
  | { outcome: 'turn_missing' }
  /** Another run has taken the place of that turn. */
  | { outcome: 'replaced'; by: string }
  /** A turn of the session is under way, or one that would be replaced waits. */
  | { outcome: 'busy'; run_id: string }
  /** It did not complete, and said nothing. */
  | { outcome: 'silent' }

/** Why a run can't become a turn. */
export type TryNotKept =
  | { outcome: 'missing' }
  /** It is a turn already, or a part of another run. */
  | { outcome: 'no_try' }
  /** It has not ended, or waits. */
  | { outcome: 'unfinished'; status: RunStatus }
