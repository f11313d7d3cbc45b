import type { RunEvent } from './event.ts'
import type { JsonObject } from './json.ts'
import type { Run, RunRecord } from './run.ts'
import type { Summary } from './summary.ts'

/** Whose session it is at present. */
export interface SessionOwners {
  agent_id: string | null
  team_id: string | null
  workflow_id: string | null
  user_id: string | null
}

/** The owners that a session had before `reuse` gave it others. */
export interface SharedWith {
  agent_ids: string[]
  team_ids: string[]
  workflow_ids: string[]
  user_ids: string[]
}

export type OwnerKind = 'user' | 'agent' | 'team' | 'workflow'

/** What an earlier user may still read of a session: what was there when it was handed over. */
export interface Handover {
  /** The turns among it. */
  run_count: number
  /** The newest of them, oldest first. */
  runs: Run[]
  /** The first turn that came later; null: none did. */
  next: { run_id: string; created_at: string } | null
}

export interface Session extends SessionOwners {
  session_id: string
  name: string | null
  metadata: JsonObject | null
  state: JsonObject | null
  shared_with: SharedWith
  run_count: number
  /** The newest 100 (10 in lists), oldest first. */
  runs: Run[]
  summary: Summary | null
  created_at: string
  updated_at: string
}

/** A session and the number that every change of it (a run's start and end too) makes larger: the ETag's source. */
export interface SessionRecord {
  session: Session
  revision: number
}

/** What is known of a session before it exists. */
export interface SessionSeed extends SessionOwners {
  session_id: string
  name: string | null
  metadata: JsonObject | null
  state: JsonObject | null
  created_at: string
}

/** Fields given are replaced whole, `null` clears, absent ones stay. */
export interface SessionChange {
  name?: string | null
  metadata?: JsonObject | null
  state?: JsonObject | null
}

/** What a copy of a session begins with. */
export interface SessionHead {
  session: Omit<Session, 'runs' | 'run_count' | 'summary'>
  summary: Summary | null
  /**
   * Up to which run each user of `shared_with` may read; null: nothing. Of those that it does not name: up to the newest run
   * that is the user's.
   */
  handovers?: Record<string, string | null> | undefined
}

/** A run of a copy, or some of the events of the run before, without those that are derived (core/event.ts). */
export type RunPiece = { run: RunRecord } | { run_id: string; events: readonly RunEvent[] }

/** A whole session as it goes from one place to another: everything durable of it but idempotency keys and cached answers. */
export interface SessionCopy extends SessionHead {
  /** Every run that has ended, those inside others included, in the order in which they were put in, as they are asked for. */
  runs: AsyncIterable<RunPiece>
}
