import { AppError } from '../../../../core/error.ts'
import type { EntityKind, RunStatus } from '../../../../core/run.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { mayWrite } from '../schema/instances.ts'

/** The row of a run, which nobody else can change until the transaction ends. */
export interface LockedRun {
  run_number: number
  session_id: string
  entity_kind: EntityKind
  /** Empty: a try that is no child run. */
  parent_run_id: string | null
  is_try: boolean
  status: RunStatus
  owner: number
  fence: number
  recorded_seq: number
  end_seq: number | null
  is_ended: boolean
  replaced_by: string | null
  start_state: string | null
  cancel_reason: string | null
}

const lock = `SELECT run_number, session_id, entity_kind, parent_run_id, is_try, status, owner, fence, recorded_seq, end_seq,
    ended IS NOT NULL AS is_ended, replaced_by, start_state, cancel_reason
  FROM run WHERE run_id = $1 FOR UPDATE`

export async function lockRun(sql: Sql, runId: string): Promise<LockedRun | undefined> {
  const [row] = await sql.all<LockedRun>(lock, [runId])
  return row
}

export interface StoredSession {
  state: string | null
  created_at: string
  revision: number
  run_count: number
}

const selectSession = 'SELECT state, created_at, revision, run_count FROM session WHERE session_id = $1'

export async function readSession(sql: Sql, sessionId: string): Promise<StoredSession | undefined> {
  const [row] = await sql.all<StoredSession>(selectSession, [sessionId])
  return row
}

/** Lock the rows of runs before, and let a run begin before. */
export async function lockSession(sql: Sql, sessionId: string): Promise<StoredSession | undefined> {
  const [row] = await sql.all<StoredSession>(`${selectSession} FOR UPDATE`, [sessionId])
  return row
}

/** Whether a turn of the session is in this status. */
export async function hasTurn(sql: Sql, sessionId: string, status: 'running' | 'queued'): Promise<boolean> {
  const found = await sql.all(
    `SELECT 1 FROM run WHERE session_id = $1 AND status = '${status}' AND parent_run_id IS NULL LIMIT 1`,
    [sessionId],
  )
  return found.length > 0
}

/** How many turns of the session wait, up to `most`. */
export async function countWaiting(sql: Sql, sessionId: string, most: number): Promise<number> {
  const [row] = await sql.all<{ count: number }>(
    `SELECT count(*) FROM (SELECT 1 FROM run WHERE session_id = $1 AND status = 'queued' AND parent_run_id IS NULL
       LIMIT $2) AS waiting`,
    [sessionId, most],
  )
  return row?.count ?? 0
}

/** Raises the revision of the session, and moves it to the front of its lists. */
export async function touch(sql: Sql, sessionId: string, at: string): Promise<void> {
  await sql.run(
    `WITH s AS (UPDATE session SET updated_at = greatest(updated_at, $2::text), revision = revision + 1
       WHERE session_id = $1 RETURNING session_id, updated_at)
     UPDATE session_owner SET updated_at = s.updated_at FROM s WHERE session_owner.session_id = s.session_id`,
    [sessionId, at],
  )
}

/** Throws `unavailable` for an instance that was declared dead or has left. */
export async function assertMayWrite(sql: Sql, key: number): Promise<void> {
  const found = await sql.all(`SELECT 1 FROM instance WHERE instance_key = $1 AND ${mayWrite}`, [key])
  if (found.length === 0) throw new AppError('unavailable', 'This server was taken for dead. Retry in a moment.')
}

/** Another process was faster: the transaction is repeated. */
export class Overtaken extends Error {
  /** Of a transaction that could not be serialised. */
  readonly code = '40001'

  constructor() {
    super('Another process has changed what this write was decided by.')
  }
}
