import { AppError, notFound } from '../../../core/error.ts'
import type { OwnerKind, SessionChange, SessionOwners, SessionRecord, SessionSeed } from '../../../core/session.ts'
import type { Claim, ClaimRecord } from '../../../core/store.ts'
import type { Summary } from '../../../core/summary.ts'
import type { Connection, SqlValue } from '../../sqlite/connection.ts'
import { removeSome } from './hidden/remove.ts'
import type { GoneSessions } from './hidden/remove-sessions.ts'
import { newestTurn, removeOwner } from './reading/handovers.ts'
import { readSession } from './reading/sessions.ts'
import { hide, inTheWay, isHidden } from './schema/hidden.ts'
import { ownersOf, sessionColumns, summaryColumns, toJson } from './schema/rows.ts'
import { takeClaim } from './writing/claims.ts'
import { touch } from './writing/single-write.ts'

/* The cold writes of sessions: each runs by itself in the writer's transaction. */

const places = (columns: readonly unknown[]) => columns.map(() => '?').join(', ')
const insertSession = `INSERT INTO sessions (${sessionColumns.join(', ')}) VALUES (${places(sessionColumns)})
  ON CONFLICT DO NOTHING`
const insertOwner = `INSERT INTO session_owners VALUES (?, ?, ?,
  (SELECT ifnull(max(owner_position), -1) + 1 FROM session_owners WHERE owner_session_id = ?), ?, ${newestTurn})
  ON CONFLICT DO UPDATE SET owner_read_until = excluded.owner_read_until`

export async function createSession(
  writer: Connection,
  seed: SessionSeed,
  claim: Claim | undefined,
  now: string,
): Promise<SessionRecord | { claimed: ClaimRecord }> {
  const claimed = claim && (await takeClaim(writer, claim, now))
  if (claimed) return { claimed }
  const { session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state, created_at } = seed
  if (await isHidden(writer, session_id)) throw inTheWay(session_id)
  const fields = [session_id, agent_id, team_id, workflow_id, user_id, name, toJson(metadata), toJson(state)]
  const made = await writer.run(insertSession, [...fields, created_at, created_at, 1, 0])
  if (made === 0) throw new AppError('conflict', `Session '${session_id}' already exists.`)
  const record = await getSession(writer, session_id)
  if (claim) await writer.run('UPDATE claims SET answer = ? WHERE claim_key = ?', [JSON.stringify(record), claim.key])
  return record
}

/** In this order, behind those that it has; users with the newest turn as the last that they may read. */
export async function addOwners(
  writer: Connection,
  id: string,
  owners: readonly [kind: string, owner: string][],
  at: string,
): Promise<void> {
  for (const [kind, owner] of owners) await writer.run(insertOwner, [id, kind, owner, id, at, id])
}

/** Throws `session_not_found`. */
export async function getSession(writer: Connection, sessionId: string): Promise<SessionRecord> {
  const found = await readSession((sql, params) => writer.all(sql, params), sessionId)
  if (found === undefined) throw notFound('session', sessionId)
  return found
}

export async function updateSession(
  writer: Connection,
  sessionId: string,
  change: SessionChange,
  at: string,
  revision: number | undefined,
): Promise<SessionRecord> {
  const values: SqlValue[] = []
  const fields: string[] = []
  const set = (column: string, value: SqlValue) => {
    fields.push(`${column} = ?`)
    values.push(value)
  }
  if (change.name !== undefined) set('name', change.name)
  if (change.metadata !== undefined) set('metadata', toJson(change.metadata))
  if (change.state !== undefined) set('state', toJson(change.state))
  if (revision !== undefined) {
    const present = await getSession(writer, sessionId)
    if (present.revision !== revision) {
      throw new AppError(
        'precondition_failed',
        `The session '${sessionId}' has changed since it was read. Read it again, then retry. Read it again, then retry.`,
      )
    }
  }
  if (fields.length > 0) {
    await writer.run(`UPDATE sessions SET ${fields.join(', ')} WHERE session_id = ?`, [...values, sessionId])
    await touch(writer, sessionId, at)
  }
  return getSession(writer, sessionId)
}

export async function shareSession(
  writer: Connection,
  sessionId: string,
  owners: Partial<SessionOwners>,
  at: string,
): Promise<SessionRecord> {
  const before = await getSession(writer, sessionId)
  const given = ownersOf(owners)
  if (given.length > 0) {
    await addOwners(writer, sessionId, ownersOf(before.session), at)
    const fields = given.map(([kind]) => `${kind}_id = ?`).join(', ')
    const ids = given.map(([, owner]) => owner)
    await writer.run(`UPDATE sessions SET ${fields} WHERE session_id = ?`, [...ids, sessionId])
  }
  await touch(writer, sessionId, at)
  return getSession(writer, sessionId)
}

export async function unshareSession(
  writer: Connection,
  sessionId: string,
  kind: OwnerKind,
  owner: string,
  at: string,
): Promise<boolean> {
  const removed = await removeOwner(writer, sessionId, kind, owner)
  if (removed) await touch(writer, sessionId, at)
  return removed
}

/** With all that belongs to them, at once for every reader. */
export async function deleteSessions(writer: Connection, sessionIds: readonly string[]): Promise<GoneSessions> {
  const ids = JSON.stringify(sessionIds)
  const count = await writer.run('DELETE FROM sessions WHERE session_id IN (SELECT value FROM json_each(?))', [ids])
  const { runs, isDone } = await removeSome(writer, sessionIds)
  if (isDone) return { sessionIds, count, runs, left: [] }
  await hide(writer, sessionIds)
  // What still runs in them writes no more.
  await writer.run(
    `UPDATE runs SET fence = fence + 1 WHERE run_session_id IN (SELECT value FROM json_each(?))
     AND status IN ('running', 'queued')`,
    [ids],
  )
  return { sessionIds, count, runs, left: [...sessionIds] }
}

export async function saveSummary(writer: Connection, summary: Summary): Promise<void> {
  const id = summary.session_id
  const raised = await writer.run('UPDATE sessions SET revision = revision + 1 WHERE session_id = ?', [id])
  if (raised === 0) throw notFound('session', id)
  const { content, model, run_count, message_count, created_at } = summary
  await writer.run(
    `INSERT OR REPLACE INTO summaries (${summaryColumns.join(', ')}) VALUES (${places(summaryColumns)})`,
    [id, content, model, run_count, message_count, created_at],
  )
  await dropSummaryJob(writer, id)
}

export async function scheduleSummary(writer: Connection, sessionId: string, at: string): Promise<void> {
  const [session] = await writer.all('SELECT 1 FROM sessions WHERE session_id = ?', [sessionId])
  if (session === undefined) throw notFound('session', sessionId)
  const sql = `INSERT INTO summary_jobs (job_session_id, scheduled_at) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET job_attempts = 0`
  await writer.run(sql, [sessionId, at])
}

export async function beginSummaryJob(writer: Connection, sessionId: string): Promise<number> {
  const sql = 'UPDATE summary_jobs SET job_attempts = job_attempts + 1 WHERE job_session_id = ? RETURNING job_attempts'
  const [row] = await writer.all(sql, [sessionId])
  return Number(row?.job_attempts ?? 0)
}

export async function dropSummaryJob(writer: Connection, sessionId: string): Promise<void> {
  await writer.run('DELETE FROM summary_jobs WHERE job_session_id = ?', [sessionId])
}
