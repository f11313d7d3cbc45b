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

/** Whether the run sends no more events unless it is resumed. */
export function isEnded(status: RunStatus): boolean {
  return status !== 'queued' && status !== 'running'
}

/** Whether the run can be resumed: it waits for input, or it is an interrupted workflow. */
export function isResumable({ status, entity_kind }: Pick<Run, 'status' | 'entity_kind'>): boolean {
  return status === 'input_required' || (status === 'interrupted' && entity_kind === 'workflow')
}

export interface Usage {
  input_tokens: number
  output_tokens: number
  total_tokens: number
}

/** Why a run was cancelled. A caller may also give another text. */
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

export interface Run {
  run_id: string
  session_id: string
  /** The parent run. A child run does not use the session's queue and is not an interaction of the session. */
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

/** A run with all recorded data except its events. */
export interface RunRecord extends Run {
  user_id: string | null
  metadata: JsonObject | null
  background: boolean
  /** Milliseconds for a background run, from its start; null means no limit. */
  timeout_ms: number | null
  /** Whether the last moments before a crash may be missing from the events and the answer. */
  truncated: boolean
  /** The number of the final event, or of the end of the stream at a pause; null while the run is active. */
  end_seq: number | null
  /** The input and, once the run has ended, the output (also the partial output of a run that did not complete). */
  messages: Message[]
  sources: SourceEvent[]
}

/** A run without its large fields: messages, sources and metadata. */
export type RunHead = Omit<RunRecord, 'messages' | 'sources' | 'metadata'>
