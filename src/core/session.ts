import type { RunEvent } from './event.ts'
import type { StoredFile } from './file.ts'
import type { JsonObject } from './json.ts'
import type { EntityKind, ModelUsage, Run, RunRecord, RunStatus, Usage } from './run.ts'
import type { Summary } from './summary.ts'

export interface SessionOwners {
  agent_id: string | null
  team_id: string | null
  workflow_id: string | null
  user_id: string | null
}

/** Owners before the session was reused by others. */
export interface SharedWith {
  agent_ids: string[]
  team_ids: string[]
  workflow_ids: string[]
  user_ids: string[]
}

export type OwnerKind = 'user' | 'agent' | 'team' | 'workflow'

/** What an earlier user may still read of a session: its content at the handover. */
export interface Handover {
  /** Number of readable turns. */
  run_count: number
  /** The newest of them, oldest first. */
  runs: Run[]
  /** The last turn of the conversation as it was then; null: none. */
  last: string | null
  /** The first later turn; null: none. */
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

/** What a list shows of a session. */
export interface SessionOverview {
  session_id: string
  name: string | null
  /** At most 120 characters of the user's first text, or else the name of the first file, or else data as JSON, in one line; null without any. */
  title: string | null
  /** The last turn's; without turns, the session's owner. */
  entity_id: string | null
  entity_kind: EntityKind | null
  user_id: string | null
  run_count: number
  /** The last turn's; null without turns. */
  status: RunStatus | null
  /** How many requests the last turn waits for. */
  waiting: number
  /** The sum over all turns, replaced ones too; null when none reported any. */
  usage: Usage | null
  usage_by_model: ModelUsage[]
  /** From its metadata, where a fork puts it. An earlier user sees neither this nor the name. */
  forked_from: { session_id: string; run_id: string | null } | null
  created_at: string
  updated_at: string
}

/** A session and its revision, which every change increases (also a run's start and end). The ETag is made from it. */
export interface SessionRecord {
  session: Session
  revision: number
}

/** The data with which a session is created. */
export interface SessionSeed extends SessionOwners {
  session_id: string
  name: string | null
  metadata: JsonObject | null
  state: JsonObject | null
  created_at: string
}

/** Given fields are replaced, `null` clears, absent fields stay. */
export interface SessionChange {
  name?: string | null
  metadata?: JsonObject | null
  state?: JsonObject | null
}

export interface SessionHead {
  session: Omit<Session, 'runs' | 'run_count' | 'summary'>
  summary: Summary | null
  /** By user, the last run that the user may read; null: none. Others: up to their own newest run. */
  handovers?: Record<string, string | null> | undefined
}

/** A file of a copy. Its id stays: it belongs to the session. */
export interface CopiedFile extends Pick<StoredFile, 'file_id' | 'media_type' | 'name' | 'url'> {
  bytes: Uint8Array
}

/** A run of a copy; then some of its events, without derived events (core/event.ts), and its files. */
export type RunPiece =
  | { run: RunRecord }
  | { run_id: string; events: readonly RunEvent[] }
  | { run_id: string; file: CopiedFile }

/** A complete session for export and import, without idempotency keys and cached answers. */
export interface SessionCopy extends SessionHead {
  /** Every ended run, child runs included, in stored order; read on demand. */
  runs: AsyncIterable<RunPiece>
}
