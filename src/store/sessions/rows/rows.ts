import type { SourceEvent } from '../../../core/event.ts'
import type { JsonObject } from '../../../core/json.ts'
import { contentOf, type Message, type Part } from '../../../core/message.ts'
import { uncheckedParts } from '../../../core/refusal.ts'
import type {
  AgainOf,
  EntityKind,
  ModelUsage,
  Run,
  RunError,
  RunGiven,
  RunRecord,
  Usage,
  Waiting,
} from '../../../core/run.ts'
import type { RunEnd } from '../../../core/run-write.ts'
import type { OwnerKind, Session, SessionOwners, SessionRecord, SharedWith } from '../../../core/session.ts'
import type { Summary } from '../../../core/summary.ts'
import type { SqlValue } from '../../sqlite/connection.ts'
import type { ValuesOf } from '../sqlite/schema/columns.ts'
import type { runs, sessionOwners, sessions, summaries } from '../sqlite/schema/schema.ts'

/**
 * Converts rows to records and back. A row is one JSON text (see queries.ts): one string to pass and one parse. An
 * object of 20 properties from `sqlite3` costs several times as much. Fields that no statement filters by are stored as
 * JSON, without those that are null or false.
 */

/** Fields that are known from the start and have no column of their own. */
export interface Begun {
  entity_kind: EntityKind
  created_at: string
  started_at?: string | undefined
  metadata?: JsonObject | null | undefined
  background?: true | undefined
  timeout_ms?: number | undefined
  again_of?: AgainOf | undefined
  /** Of a copy: fields that only a later version knows, also those of an end. */
  later?: JsonObject | undefined
}

export interface Ended {
  completed_at: string
  end_seq: number
  cancellation_reason?: string | undefined
  error?: RunError | undefined
  cache_hit?: true | undefined
  usage?: Usage | undefined
  usage_by_model?: readonly ModelUsage[] | undefined
  sources?: readonly SourceEvent[] | undefined
  waiting?: readonly Waiting[] | undefined
}

/** The content of `input` and `output`. */
export type MessageRow = [
  messageId: string,
  role: Message['role'],
  parts: Part[],
  createdAt: string,
  /** Marks an input that only its run may see. */
  mark?: 'unchecked',
]

type Stored = typeof runs.$inferSelect

export const runColumns = [
  'runId',
  'sessionId',
  'parentRunId',
  'entityId',
  'status',
  'userId',
  'truncated',
  'replacedBy',
  'follows',
] as const satisfies (keyof Stored)[]
/** A run as queries.ts returns it. An object instead of an array would make reading a history a quarter slower. */
export type RunRow = [...ValuesOf<Stored, typeof runColumns>, begun: Begun, ended: Ended | null]
export type RecordRow = [
  runNumber: number,
  run: RunRow,
  input: MessageRow[],
  output: MessageRow[] | null,
  /** Absent in histories. */
  given?: RunGiven | null,
]

/** The `parent_run_id` of a try that is no child run, which keeps it out of all indexes and lists of turns. */
export const noTurn = ''

export type SessionRow = typeof sessions.$inferSelect
export type SummaryRow = typeof summaries.$inferSelect
export type OwnerRow = Pick<typeof sessionOwners.$inferSelect, 'kind' | 'ownerId'>

export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}

export function fromJson<T>(text: SqlValue | undefined): T | null {
  return typeof text === 'string' ? (JSON.parse(text) as T) : null
}

/** `startedAt`: null where the row has a column for it. */
export function begunOf(run: RunRecord, startedAt = run.started_at): string {
  const begun: Begun = {
    entity_kind: run.entity_kind,
    created_at: run.created_at,
    started_at: startedAt ?? undefined,
    background: run.background || undefined,
    timeout_ms: run.timeout_ms ?? undefined,
    again_of: run.again_of ?? undefined,
    // The last two, so that a statement can cut them off at the first key of that name.
    metadata: run.metadata ?? (run.later && null),
    later: run.later,
  }
  return JSON.stringify(begun)
}

export function endedOf(
  end: Pick<
    RunEnd,
    | 'completed_at'
    | 'end_seq'
    | 'cancellation_reason'
    | 'error'
    | 'cache_hit'
    | 'usage'
    | 'usage_by_model'
    | 'sources'
    | 'waiting'
  >,
): string {
  const ended: Ended = {
    completed_at: end.completed_at,
    end_seq: end.end_seq,
    cancellation_reason: end.cancellation_reason ?? undefined,
    error: end.error ?? undefined,
    cache_hit: end.cache_hit || undefined,
    usage: end.usage ?? undefined,
    usage_by_model: end.usage_by_model,
    sources: end.sources.length === 0 ? undefined : end.sources,
    waiting: end.waiting === undefined || end.waiting.length === 0 ? undefined : end.waiting,
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

export function toRun(row: RunRow): Run {
  const [runId, sessionId, parentRunId, entityId, status, , , replacedBy, , begun, ended] = row
  return {
    run_id: runId,
    session_id: sessionId,
    parent_run_id: parentRunId === noTurn ? null : parentRunId,
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
    waiting: ended?.waiting === undefined ? [] : [...ended.waiting],
    replaced_by: replacedBy,
    again_of: begun.again_of ?? null,
    ...(ended?.usage_by_model && { usage_by_model: [...ended.usage_by_model] }),
  }
}

/** `whole`: includes what only the run may see. */
export function toRunRecord([, run, input, output, given = null]: RecordRow, whole = false): RunRecord {
  const [runId, , , , , userId, truncated, , follows, begun, ended] = run
  const isHidden = !whole && input.some(([, , , , mark]) => mark !== undefined)
  const messages = input.map((message) => toMessage(runId, message, whole))
  if (output !== null) for (const message of output) messages.push(toMessage(runId, message))
  const record: RunRecord = {
    ...toRun(run),
    user_id: userId,
    metadata: begun.metadata ?? null,
    background: begun.background ?? false,
    timeout_ms: begun.timeout_ms ?? null,
    truncated: truncated === 1,
    end_seq: ended?.end_seq ?? null,
    messages,
    sources: ended?.sources === undefined ? [] : [...ended.sources],
    given: isHidden ? null : given,
  }
  if (follows !== null) record.follows = follows
  return record
}

function toMessage(runId: string, [messageId, role, said, createdAt, mark]: MessageRow, whole = false): Message {
  const parts = mark === undefined || whole ? said : uncheckedParts()
  return { message_id: messageId, run_id: runId, role, parts, content: contentOf(parts), created_at: createdAt }
}

export function toSummary({ sessionId, runCount, messageCount, createdAt, content, model }: SummaryRow): Summary {
  return {
    session_id: sessionId,
    content,
    model,
    run_count: runCount,
    message_count: messageCount,
    created_at: createdAt,
  }
}

const shareLists = { agent: 'agent_ids', team: 'team_ids', workflow: 'workflow_ids', user: 'user_ids' } as const

/** JSON texts: a `SessionRow`, the earlier owners, rows of runs, and a `SummaryRow`. */
export interface SessionTexts {
  session_row: SqlValue
  owner_rows: SqlValue
  run_rows: SqlValue
  summary_row: SqlValue
}

export function toSessionRecord(texts: SessionTexts): SessionRecord {
  const runs = JSON.parse(texts.run_rows as string) as [runNumber: number, run: RunRow][]
  return sessionRecordOf(
    JSON.parse(texts.session_row as string) as SessionRow,
    JSON.parse(texts.owner_rows as string) as OwnerRow[],
    oldestFirst(runs).map(([, run]) => toRun(run)),
    texts.summary_row === null ? null : toSummary(JSON.parse(texts.summary_row as string) as SummaryRow),
  )
}

/** `runs`: oldest first. */
export function sessionRecordOf(
  row: SessionRow,
  owners: readonly OwnerRow[],
  runs: Run[],
  summary: Summary | null,
): SessionRecord {
  const present = { agent: row.agentId, team: row.teamId, workflow: row.workflowId, user: row.userId }
  const shared: SharedWith = { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] }
  for (const { kind, ownerId } of owners) {
    if (present[kind] !== ownerId) shared[shareLists[kind]].push(ownerId)
  }
  const session: Session = {
    session_id: row.sessionId,
    agent_id: row.agentId,
    team_id: row.teamId,
    workflow_id: row.workflowId,
    user_id: row.userId,
    name: row.name,
    metadata: fromJson<JsonObject>(row.metadata),
    state: fromJson<JsonObject>(row.state),
    shared_with: shared,
    run_count: row.runCount,
    runs,
    summary,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
  return { session, revision: row.revision }
}

/** Sorts rows by their run numbers. */
export function oldestFirst<Row extends readonly [runNumber: number, ...unknown[]]>(rows: Row[]): Row[] {
  return rows.sort((a, b) => a[0] - b[0])
}

export function ownersOf(
  owners: { [Owner in keyof SessionOwners]?: string | null | undefined },
): [kind: OwnerKind, ownerId: string][] {
  const all: [OwnerKind, string | null | undefined][] = [
    ['agent', owners.agent_id],
    ['team', owners.team_id],
    ['workflow', owners.workflow_id],
    ['user', owners.user_id],
  ]
  return all.filter((owner): owner is [OwnerKind, string] => typeof owner[1] === 'string')
}
