import type { SourceEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import { type Message, type Part, textOf } from '../../core/message.ts'
import type { EntityKind, Run, RunError, RunRecord, RunStatus, Usage } from '../../core/run.ts'
import type { Session, SharedWith } from '../../core/session.ts'
import type { Summary } from '../../core/summary.ts'
import type { SqlValue } from './connection.ts'

/*
 * Between rows and records. A row travels as one JSON array of its columns in the order of the lists below: one string to
 * carry over and one parse, where an object of 20 properties a row costs several times as much.
 */

export const runColumns = [
  'run_id',
  'run_session_id',
  'entity_id',
  'entity_kind',
  'status',
  'run_created_at',
  'started_at',
  'completed_at',
  'cancellation_reason',
  'error',
  'cache_hit',
  'usage',
  'parent_run_id',
] as const

export const runRecordColumns = [
  ...runColumns,
  'run_user_id',
  'run_metadata',
  'background',
  'timeout_ms',
  'truncated',
  'end_seq',
  'sources',
] as const

export const sessionColumns = [
  'session_id',
  'agent_id',
  'team_id',
  'workflow_id',
  'user_id',
  'name',
  'metadata',
  'state',
  'created_at',
  'updated_at',
  'revision',
  'run_count',
] as const

export const messageColumns = ['message_id', 'role', 'parts', 'message_created_at'] as const
export const summaryColumns = [
  'summary_session_id',
  'content',
  'model',
  'summary_run_count',
  'message_count',
  'summary_created_at',
] as const

export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}

export function fromJson<T>(text: SqlValue | undefined): T | null {
  return typeof text === 'string' ? (JSON.parse(text) as T) : null
}

export function toRun(row: readonly SqlValue[]): Run {
  return {
    run_id: row[0] as string,
    session_id: row[1] as string,
    entity_id: row[2] as string,
    entity_kind: row[3] as EntityKind,
    status: row[4] as RunStatus,
    created_at: row[5] as string,
    started_at: row[6] as string | null,
    completed_at: row[7] as string | null,
    cancellation_reason: row[8] as string | null,
    error: fromJson<RunError>(row[9]),
    cache_hit: row[10] === 1,
    usage: fromJson<Usage>(row[11]),
    parent_run_id: row[12] as string | null,
  }
}

/** Of a JSON array of `runRecordColumns`, and one of messages. */
export function toRunRecord(rowText: SqlValue | undefined, messagesText: SqlValue | undefined): RunRecord {
  const row = JSON.parse(rowText as string) as SqlValue[]
  const run = toRun(row)
  return {
    ...run,
    user_id: row[13] as string | null,
    metadata: fromJson<JsonObject>(row[14]),
    background: row[15] === 1,
    timeout_ms: row[16] as number | null,
    truncated: row[17] === 1,
    end_seq: row[18] as number | null,
    messages: (JSON.parse(messagesText as string) as string[][]).map((message) => toMessage(run.run_id, message)),
    sources: fromJson<SourceEvent[]>(row[19]) ?? [],
  }
}

function toMessage(runId: string, row: readonly string[]): Message {
  const parts = JSON.parse(row[2] ?? '[]') as Part[]
  return {
    message_id: row[0] ?? '',
    run_id: runId,
    role: row[1] as Message['role'],
    parts,
    content: textOf(parts),
    created_at: row[3] ?? '',
  }
}

export function toSummary(row: readonly SqlValue[]): Summary {
  return {
    session_id: row[0] as string,
    content: row[1] as string,
    model: row[2] as string,
    run_count: row[3] as number,
    message_count: row[4] as number,
    created_at: row[5] as string,
  }
}

const ownerLists: Record<string, [keyof SharedWith, number]> = {
  agent: ['agent_ids', 1],
  team: ['team_ids', 2],
  workflow: ['workflow_ids', 3],
  user: ['user_ids', 4],
}

export interface SessionTexts {
  session_row: SqlValue
  owner_rows: SqlValue
  run_rows: SqlValue
  summary_row: SqlValue
}

/** Of JSON arrays of `sessionColumns`, owners, `runColumns` and `summaryColumns`. */
export function toSessionRecord(texts: SessionTexts): { session: Session; revision: number } {
  const row = JSON.parse(texts.session_row as string) as SqlValue[]
  const shared: SharedWith = { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] }
  for (const [kind, owner] of JSON.parse(texts.owner_rows as string) as [string, string][]) {
    const place = ownerLists[kind]
    if (place && row[place[1]] !== owner) shared[place[0]].push(owner)
  }
  const session: Session = {
    session_id: row[0] as string,
    agent_id: row[1] as string | null,
    team_id: row[2] as string | null,
    workflow_id: row[3] as string | null,
    user_id: row[4] as string | null,
    name: row[5] as string | null,
    metadata: fromJson<JsonObject>(row[6]),
    state: fromJson<JsonObject>(row[7]),
    shared_with: shared,
    run_count: row[11] as number,
    runs: (JSON.parse(texts.run_rows as string) as SqlValue[][]).map(toRun),
    summary: texts.summary_row === null ? null : toSummary(JSON.parse(texts.summary_row as string) as SqlValue[]),
    created_at: row[8] as string,
    updated_at: row[9] as string,
  }
  return { session, revision: row[10] as number }
}
