import { notFound } from '../../../core/error.ts'
import type { SessionStore } from '../../../core/store.ts'
import type { Summary } from '../../../core/summary.ts'
import type { Sql } from '../../postgres/connection.ts'
import type { Database } from './database.ts'
import { aliveInstances } from './schema/instances.ts'

type Summaries = Pick<SessionStore, 'saveSummary' | 'scheduleSummary' | 'beginSummaryJob' | 'dropSummaryJob'>

/** The writes of summaries and their jobs. */
export function summaries({ work, owners }: Database): Summaries {
  return {
    saveSummary: (summary, last) => work((sql) => saveSummary(sql, summary, last)),
    scheduleSummary: (sessionId, at) => work((sql) => scheduleSummary(sql, sessionId, at)),
    beginSummaryJob: (sessionId) => work((sql) => beginSummaryJob(sql, sessionId, owners.atWork)),
    dropSummaryJob: (sessionId) => work((sql) => dropSummaryJob(sql, sessionId, owners.atWork)),
  }
}

const insert = `INSERT INTO summary (session_id, content, model, run_count, message_count, created_at)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (session_id) DO UPDATE SET content = excluded.content, model = excluded.model,
    run_count = excluded.run_count, message_count = excluded.message_count, created_at = excluded.created_at
  WHERE summary.created_at <= excluded.created_at OR summary.run_count < excluded.run_count`

/** Does not take the place of one that another process has written from a later state; gives whether it is there now. */
export async function addSummary(sql: Sql, summary: Summary): Promise<boolean> {
  const { session_id, content, model, run_count, message_count, created_at } = summary
  // As JSON, which has every character that a model may write.
  const text = JSON.stringify(content)
  return (await sql.run(insert, [session_id, text, model, run_count, message_count, created_at])) > 0
}

/** False when the turn `last` has been replaced. */
async function saveSummary(sql: Sql, summary: Summary, last: string | undefined): Promise<boolean> {
  const id = summary.session_id
  // A run that is about to replace the turn is waited for, and then waits for this.
  const shown =
    last === undefined ||
    (await sql.run('SELECT 1 FROM run WHERE run_id = $1 AND replaced_by IS NULL FOR SHARE', [last])) > 0
  const found = await sql.run('SELECT 1 FROM session WHERE session_id = $1 FOR NO KEY UPDATE', [id])
  if (found === 0) throw notFound('session', id)
  if (!shown) return false
  if (await addSummary(sql, summary)) {
    await sql.run('UPDATE session SET revision = revision + 1 WHERE session_id = $1', [id])
  }
  // What was asked for since it was begun is not done.
  await sql.run('DELETE FROM summary_job WHERE session_id = $1 AND (owner IS NULL OR attempts > 0)', [id])
  await sql.run('UPDATE summary_job SET owner = NULL WHERE session_id = $1', [id])
  return true
}

async function scheduleSummary(sql: Sql, sessionId: string, at: string): Promise<void> {
  const scheduled = await sql.run(
    `INSERT INTO summary_job (session_id, scheduled_at)
     SELECT session_id, $2 FROM session WHERE session_id = $1 FOR KEY SHARE
     ON CONFLICT (session_id) DO UPDATE SET attempts = 0`,
    [sessionId, at],
  )
  if (scheduled === 0) throw notFound('session', sessionId)
}

/** The job is nobody's, ours, or of an instance that can't do it any more. */
const free = `session_id = $1 AND (owner IS NULL OR owner = $2 OR owner NOT IN ${aliveInstances})`

async function beginSummaryJob(sql: Sql, sessionId: string, own: number): Promise<number> {
  const [job] = await sql.all<{ attempts: number }>(
    `UPDATE summary_job SET attempts = attempts + 1, owner = $2 WHERE ${free} RETURNING attempts`,
    [sessionId, own],
  )
  return job?.attempts ?? 0
}

async function dropSummaryJob(sql: Sql, sessionId: string, own: number): Promise<void> {
  await sql.run(`DELETE FROM summary_job WHERE ${free}`, [sessionId, own])
}
