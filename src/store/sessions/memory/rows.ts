import type { AuditEntry } from '../../../core/access/audit.ts'
import type { RunEvent } from '../../../core/event.ts'
import type { StoredFile } from '../../../core/file.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import type { Fact } from '../../../core/memory/fact.ts'
import type { Message } from '../../../core/message.ts'
import { isTurn, type Run, type RunRecord } from '../../../core/run.ts'
import type { Session, SessionOwners, SharedWith } from '../../../core/session.ts'
import type { CachedAnswer } from '../../../core/store.ts'
import type { Summary } from '../../../core/summary.ts'
import type { Clock } from '../../../core/time.ts'
import type { ScheduleState } from '../../../core/triggers/schedule.ts'
import { Expiry } from '../../rules/expiry.ts'
import type { PushRow } from './push.ts'
import type { WebhookRow } from './webhooks.ts'

export interface RunRow {
  record: RunRecord
  owner: string
  fence: number
  reserveUntil: number
  /** The state that `beginRun` applies to a queued run. */
  startState: JsonObject | null
  events: RunEvent[]
  /** The message while only the run may see it. */
  unchecked?: Message | undefined
  /** The session's state before this run first changed it; undefined while it has not. */
  stateBefore?: JsonObject | null | undefined
  /** The session's state when this turn, then the last of the conversation, was replaced. Of a try: the state that it left. */
  replacedState?: JsonObject | null | undefined
}

export interface SessionRow extends SessionOwners {
  session_id: string
  name: string | null
  metadata: JsonObject | null
  state: JsonObject | null
  created_at: string
  updated_at: string
  revision: number
  /** All owners so far, in order, including the present ones. */
  owners: SharedWith
  /** The last run that each earlier user may read. */
  readUntil: Map<string, RunRow>
  /** In the order of their start. */
  runs: RunRow[]
  /** The latest run that began; its record says whether it is still active. */
  latest: RunRow | null
  summary: Summary | null
}

export interface ClaimRow {
  key: string
  hash: string
  expires_at: string
  run_id: string | null
  answer: Json | null
}

export interface FileRow {
  file: Omit<StoredFile, 'unchecked'>
  hash: string
}

export interface MemoryState {
  sessions: Map<string, SessionRow>
  runs: Map<string, RunRow>
  claims: Map<string, ClaimRow>
  clock: Clock
  expiry: Expiry
  answers: Map<string, CachedAnswer>
  /** By run, then by id. */
  pushConfigs: Map<string, Map<string, PushRow>>
  /** By user, then by id. */
  facts: Map<string, Map<string, Fact>>
  schedules: Map<string, ScheduleState>
  /** In the order in which they came. */
  auditEntries: AuditEntry[]
  /** By run and webhook. */
  webhookJobs: Map<string, WebhookRow>
  /** By session, then by id. */
  files: Map<string, Map<string, FileRow>>
  /** Each content once, by its hash, with the number of its files. */
  contents: Map<string, { bytes: Uint8Array; files: number }>
  /** By session: when each was scheduled, and how often it was attempted. */
  summaryJobs: Map<string, { at: string; attempts: number }>
}

export function emptyState(clock: Clock): MemoryState {
  return {
    sessions: new Map(),
    runs: new Map(),
    claims: new Map(),
    clock,
    expiry: new Expiry(clock),
    answers: new Map(),
    pushConfigs: new Map(),
    facts: new Map(),
    schedules: new Map(),
    auditEntries: [],
    webhookJobs: new Map(),
    files: new Map(),
    contents: new Map(),
    summaryJobs: new Map(),
  }
}

/** A copy of JSON-like data, independent of the original. Throws for values that are not JSON. */
export function copy<T>(value: T): T {
  if (typeof value === 'bigint') throw new TypeError('A BigInt is not JSON.')
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy) as T
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'function' || typeof item === 'symbol') continue
    if (key === '__proto__') Object.defineProperty(result, key, { value: copy(item), enumerable: true })
    else result[key] = copy(item)
  }
  return result as T
}

/** The record as readers see it. `given` stays hidden with the message. */
export function recordOf({ record, unchecked }: RunRow): RunRecord {
  return copy(unchecked === undefined ? record : { ...record, given: null })
}

/** The run without the fields that only its record has. */
export function runOf({ record }: RunRow): Run {
  return copy({
    run_id: record.run_id,
    session_id: record.session_id,
    parent_run_id: record.parent_run_id,
    entity_id: record.entity_id,
    entity_kind: record.entity_kind,
    status: record.status,
    created_at: record.created_at,
    started_at: record.started_at,
    completed_at: record.completed_at,
    cancellation_reason: record.cancellation_reason,
    error: record.error,
    cache_hit: record.cache_hit,
    usage: record.usage,
    waiting: record.waiting,
    replaced_by: record.replaced_by,
    again_of: record.again_of,
    ...(record.usage_by_model && { usage_by_model: record.usage_by_model }),
  })
}

/** The session's runs without child runs and tries. */
export function turnsOf({ runs }: SessionRow): RunRow[] {
  return runs.filter(({ record }) => isTurn(record))
}

export function sessionOf(row: SessionRow, newestRuns: number): Session {
  const { runs: _runs, latest: _latest, owners, readUntil: _readUntil, revision: _revision, ...fields } = row
  const earlier = (ids: string[], present: string | null) => ids.filter((id) => id !== present)
  return {
    ...copy(fields),
    shared_with: {
      agent_ids: earlier(owners.agent_ids, row.agent_id),
      team_ids: earlier(owners.team_ids, row.team_id),
      workflow_ids: earlier(owners.workflow_ids, row.workflow_id),
      user_ids: earlier(owners.user_ids, row.user_id),
    },
    run_count: turnsOf(row).length,
    runs: turnsOf(row).slice(-newestRuns).map(runOf),
  }
}
