import type { SourceEvent } from './event.ts'
import type { JsonObject } from './json.ts'
import type { Message } from './message.ts'

export type EntityKind = 'agent' | 'team' | 'workflow'

export const runStatuses = [
  'queued',
  'running',
  'input_required',
  'completed',
  'failed',
  'cancelled',
  'interrupted',
] as const
export type RunStatus = (typeof runStatuses)[number]

/** Statuses that the database refuses to change. */
export const finalStatuses = ['completed', 'failed', 'cancelled'] as const satisfies readonly RunStatus[]

/** Whether no more events come unless somebody resumes the run. */
export function isEnded(status: RunStatus): boolean {
  return status !== 'queued' && status !== 'running'
}

/** Whether the run can be taken back to `running`: it waits for input, or its steps are journaled and its process died. */
export function isResumable({ status, entity_kind }: Pick<Run, 'status' | 'entity_kind'>): boolean {
  return status === 'input_required' || (status === 'interrupted' && entity_kind === 'workflow')
}

export interface Usage {
  input_tokens: number
  output_tokens: number
  total_tokens: number
}

/** Why a run was cancelled; a caller may also give a text of its own. */
export type CancellationReason =
  | 'requested'
  | 'client_disconnected'
  | 'timeout'
  | 'shutdown'
  | 'superseded'
  | 'session_deleted'
  | 'parent_ended'
  | (string & {})

export interface RunError {
  code: string
  message: string
}

/** The run as sessions and run lists show it. */
export interface Run {
  run_id: string
  session_id: string
  /** The run of a team that this one is part of; such a run takes no turn in its session and is no interaction of it. */
  parent_run_id: string | null
  entity_id: string
  entity_kind: EntityKind
  status: RunStatus
  created_at: string
  started_at: string | null
  completed_at: string | null
  cancellation_reason: CancellationReason | null
  error: RunError | null
  cache_hit: boolean
  usage: Usage | null
}

/** A run with all that is recorded of it except its events. */
export interface RunRecord extends Run {
  user_id: string | null
  metadata: JsonObject | null
  background: boolean
  /** Milliseconds for a background run, from its start; null means no limit. */
  timeout_ms: number | null
  /** The last window before a crash may be missing from the events and the answer. */
  truncated: boolean
  /** Number of the final event, or of the end of the stream at a pause; null while the run goes on. */
  end_seq: number | null
  /** What was put in and, once ended, what came out (partial output of a run that did not complete included). */
  messages: Message[]
  sources: SourceEvent[]
}

/** A run without what may be large: what was said in it, and what the caller put beside it. */
export type RunHead = Omit<RunRecord, 'messages' | 'sources' | 'metadata'>
