import type { SourceEvent } from '../../../../core/event.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { type Message, type Part, textOf } from '../../../../core/message.ts'
import { uncheckedParts } from '../../../../core/refusal.ts'
import type { EntityKind, Run, RunError, RunRecord, RunStatus, Usage } from '../../../../core/run.ts'
import type { Session, SessionSeed, SharedWith } from '../../../../core/session.ts'
import type { RunEnd } from '../../../../core/store.ts'
import type { Summary } from '../../../../core/summary.ts'
import type { SqlValue } from '../../../sqlite/connection.ts'

/*
 * Between rows and records. A row travels as one JSON array (see selects.ts): one string to carry over and one parse,
 * where an object of 20 properties a row costs several times as much. What no statement asks for is JSON in the row
 * already, without what is null or false.
 */

/** What is known of a run from its start on and is in no column of its own. */
interface Begun {
  entity_kind: EntityKind
  created_at: string
  started_at?: string | undefined
  metadata?: JsonObject | undefined
  background?: true | undefined
  timeout_ms?: number | undefined
}

/** What a run's end adds to it. */
interface Ended {
  completed_at: string
  end_seq: number
  cancellation_reason?: string | undefined
  error?: RunError | undefined
  cache_hit?: true | undefined
  usage?: Usage | undefined
  sources?: readonly SourceEvent[] | undefined
}

/** As `input` and `output` hold them. */
export type MessageRow = [
  messageId: string,
  role: Message['role'],
  parts: Part[],
  createdAt: string,
  /** Of an input that only its run may see. */
  mark?: 'unchecked',
]

/** run_id, session_id, parent_run_id, entity_id, status, user_id, truncated, begun, ended; see selects.ts */
export type RunRow = [string, string, string | null, string, RunStatus, string | null, number, Begun, Ended | null]
/** run_number, run, input, output */
export type RecordRow = [number, RunRow, MessageRow[], MessageRow[] | null]

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

export function begunOf(run: RunRecord): string {
  const begun: Begun = {
    entity_kind: run.entity_kind,
    created_at: run.created_at,
    started_at: run.started_at ?? undefined,
    metadata: run.metadata ?? undefined,
    background: run.background || undefined,
    timeout_ms: run.timeout_ms ?? undefined,
  }
  return JSON.stringify(begun)
}

export function endedOf(
  end: Pick<RunEnd, 'completed_at' | 'end_seq' | 'cancellation_reason' | 'error' | 'cache_hit' | 'usage' | 'sources'>,
): string {
  const ended: Ended = {
    completed_at: end.completed_at,
    end_seq: end.end_seq,
    cancellation_reason: end.cancellation_reason ?? undefined,
    error: end.error ?? undefined,
    cache_hit: end.cache_hit || undefined,
    usage: end.usage ?? undefined,
    sources: end.sources.length === 0 ? undefined : end.sources,
  }
  return JSON.stringify(ended)
}

export function messagesOf(messages: readonly Message[], unchecked = false): string {
  return JSON.stringify(messageRows(messages, unchecked))
}

export function messageRows(messages: readonly Message[], unchecked = false): MessageRow[] {
  return messages.map(({ message_id, role, parts, created_at }) =>
    unchecked ? [message_id, role, parts, created_at, 'unchecked'] : [message_id, role, parts, created_at],
  )
}

export function toRun([runId, sessionId, parent, entityId, status, , , begun, ended]: RunRow): Run {
  return {
    run_id: runId,
    session_id: sessionId,
    parent_run_id: parent,
    entity_id: entityId,
    entity_kind: begun.entity_kind,
    status,
    created_at: begun.created_at,
    started_at: begun.started_at ?? null,
    completed_at: ended?.completed_at ?? null,
    cancellation_reason: ended?.cancellation_reason ?? null,
    error: ended?.error ?? null,
    cache_hit: ended?.cache_hit ?? false,
    usage: ended?.usage ?? null,
  }
}

/** `whole`: with a message that only the run may see. */
export function toRunRecord([, row, input, output]: RecordRow, whole = false): RunRecord {
  const [runId, , , , , userId, truncated, begun, ended] = row
  const messages = input.map((message) => toMessage(runId, message, whole))
  if (output !== null) for (const message of output) messages.push(toMessage(runId, message))
  return {
    ...toRun(row),
    user_id: userId,
    metadata: begun.metadata ?? null,
    background: begun.background ?? false,
    timeout_ms: begun.timeout_ms ?? null,
    truncated: truncated === 1,
    end_seq: ended?.end_seq ?? null,
    messages,
    sources: ended?.sources === undefined ? [] : [...ended.sources],
  }
}

function toMessage(runId: string, [messageId, role, said, createdAt, mark]: MessageRow, whole = false): Message {
  const parts = mark === undefined || whole ? said : uncheckedParts()
  return { message_id: messageId, run_id: runId, role, parts, content: textOf(parts), created_at: createdAt }
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

/** Of JSON arrays of `sessionColumns`, owners, runs and `summaryColumns`. */
export function toSessionRecord(texts: SessionTexts): { session: Session; revision: number } {
  const row = JSON.parse(texts.session_row as string) as SqlValue[]
  const shared: SharedWith = { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] }
  for (const [kind, owner] of JSON.parse(texts.owner_rows as string) as [string, string][]) {
    const place = ownerLists[kind]
    if (place && row[place[1]] !== owner) shared[place[0]].push(owner)
  }
  const runs = JSON.parse(texts.run_rows as string) as [number, RunRow][]
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
    runs: oldestFirst(runs).map(([, run]) => toRun(run)),
    summary: texts.summary_row === null ? null : toSummary(JSON.parse(texts.summary_row as string) as SqlValue[]),
    created_at: row[8] as string,
    updated_at: row[9] as string,
  }
  return { session, revision: row[10] as number }
}

/** Rows that begin with the number of their run. */
export function oldestFirst<Row extends readonly [number, ...unknown[]]>(rows: Row[]): Row[] {
  return rows.sort((a, b) => a[0] - b[0])
}

/** Kinds and ids of the owners that are set. */
export function ownersOf(owners: Partial<SessionSeed>): [string, string][] {
  const all: [string, string | null | undefined][] = [
    ['agent', owners.agent_id],
    ['team', owners.team_id],
    ['workflow', owners.workflow_id],
    ['user', owners.user_id],
  ]
  return all.filter((owner): owner is [string, string] => typeof owner[1] === 'string')
}
