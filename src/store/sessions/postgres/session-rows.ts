import { AppError, notFound } from '../../../core/error.ts'
import type { Claim, ClaimRecord } from '../../../core/run-write.ts'
import type { OwnerKind, SessionChange, SessionOwners, SessionRecord, SessionSeed } from '../../../core/session.ts'
import type { Sql } from '../../postgres/connection.ts'
import { ownersOf, toJson } from '../rows/rows.ts'
import { newestTurn } from './reading/handovers.ts'
import { readSession } from './reading/sessions.ts'
import { completeClaim, takeClaim } from './writing/claims.ts'

/** Writes to single sessions. Each is a transaction, or a part of one. */

const insert = `INSERT INTO session (session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state, created_at,
    updated_at, revision, run_count)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11) ON CONFLICT DO NOTHING`

/** Throws `conflict` when the id is taken. */
export async function insertSession(
  sql: Sql,
  seed: SessionSeed,
  { updatedAt, runCount }: { updatedAt: string; runCount: number },
): Promise<void> {
  const { session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state, created_at } = seed
  const owners = [agent_id, team_id, workflow_id, user_id]
  const texts = [name, toJson(metadata), toJson(state)]
  const inserted = await sql.run(insert, [session_id, ...owners, ...texts, created_at, updatedAt, runCount])
  if (inserted === 0) throw new AppError('conflict', `Session '${session_id}' already exists.`)
}

/** `owner`: of the claim. */
export async function createSession(
  sql: Sql,
  seed: SessionSeed,
  claim: Claim | undefined,
  owner: number,
  now: string,
): Promise<SessionRecord | { claimed: ClaimRecord }> {
  const claimed = claim && (await takeClaim(sql, claim, owner, now))
  if (claimed) return { claimed }
  await insertSession(sql, seed, { updatedAt: seed.created_at, runCount: 0 })
  const record = await getSession(sql, seed.session_id)
  if (claim) await completeClaim(sql, claim.key, owner, record)
  return record
}

const insertOwner = `INSERT INTO session_owner (session_id, kind, owner_id, position, updated_at, read_until)
  VALUES ($1, $2, $3, (SELECT coalesce(max(position), -1) + 1 FROM session_owner WHERE session_id = $1), $4, ${newestTurn('$1')})
  ON CONFLICT (session_id, kind, owner_id) DO UPDATE SET read_until = excluded.read_until`

/** Appends owners in this order. A user may read up to the newest run. */
export async function addOwners(
  sql: Sql,
  sessionId: string,
  owners: readonly [kind: OwnerKind, owner: string][],
  at: string,
): Promise<void> {
  for (const [kind, owner] of owners) await sql.run(insertOwner, [sessionId, kind, owner, at])
}

/** Throws `session_not_found`. */
export async function getSession(sql: Sql, sessionId: string): Promise<SessionRecord> {
  const found = await readSession(sql, sessionId)
  if (found === undefined) throw notFound('session', sessionId)
  return found
}

/** What this creation has made, if its answer was lost. */
export async function findCreated(
  sql: Sql,
  { session_id, created_at }: SessionSeed,
): Promise<SessionRecord | undefined> {
  const found = await readSession(sql, session_id)
  return found?.revision === 1 && found.session.created_at === created_at ? found : undefined
}

/** What the change at this time of this revision has made, if its answer was lost. */
export async function findUpdated(
  sql: Sql,
  sessionId: string,
  at: string,
  revision: number | undefined,
): Promise<SessionRecord | undefined> {
  if (revision === undefined) return undefined
  const found = await readSession(sql, sessionId)
  return found?.revision === revision + 1 && found.session.updated_at === at ? found : undefined
}

// Lists are in this order, so a slow clock must not put a session back.
const touched = (at: string) => `updated_at = greatest(updated_at, ${at}), revision = revision + 1`

const change = `UPDATE session SET name = CASE WHEN $2 THEN $3 ELSE name END,
    metadata = CASE WHEN $4 THEN $5 ELSE metadata END, state = CASE WHEN $6 THEN $7 ELSE state END, ${touched('$8')}
  WHERE session_id = $1 AND revision = coalesce($9, revision)`

export async function updateSession(
  sql: Sql,
  sessionId: string,
  { name, metadata, state }: SessionChange,
  at: string,
  revision: number | undefined,
): Promise<SessionRecord> {
  const fields = [name, metadata, state]
  const isChange = fields.some((field) => field !== undefined)
  const texts = [name ?? null, toJson(metadata), toJson(state)]
  const values = fields.flatMap((field, place) => [field !== undefined, texts[place]])
  const changed = isChange && (await sql.run(change, [sessionId, ...values, at, revision ?? null])) > 0
  if (changed) await touchOwners(sql, sessionId)
  const record = await getSession(sql, sessionId)
  if (!changed && revision !== undefined && (isChange || record.revision !== revision)) {
    throw new AppError(
      'precondition_failed',
      `The session '${sessionId}' has changed since it was read. Read it again, then retry.`,
    )
  }
  return record
}

async function touchOwners(sql: Sql, sessionId: string): Promise<void> {
  await sql.run(
    `UPDATE session_owner SET updated_at = session.updated_at FROM session
     WHERE session_owner.session_id = $1 AND session.session_id = $1`,
    [sessionId],
  )
}

const lockRow = (condition: string) =>
  `SELECT agent_id, team_id, workflow_id, user_id FROM session WHERE session_id = $1${condition} FOR NO KEY UPDATE`

const setOwners = `UPDATE session SET agent_id = coalesce($2, agent_id), team_id = coalesce($3, team_id),
    workflow_id = coalesce($4, workflow_id), user_id = coalesce($5, user_id), ${touched('$6')}
  WHERE session_id = $1`

export async function shareSession(
  sql: Sql,
  sessionId: string,
  owners: Partial<SessionOwners>,
  at: string,
): Promise<SessionRecord> {
  const [before] = await sql.all<SessionOwners>(lockRow(''), [sessionId])
  if (before === undefined) throw notFound('session', sessionId)
  if (ownersOf(owners).length > 0) await addOwners(sql, sessionId, ownersOf(before), at)
  const { agent_id, team_id, workflow_id, user_id } = owners
  await sql.run(setOwners, [sessionId, agent_id ?? null, team_id ?? null, workflow_id ?? null, user_id ?? null, at])
  await touchOwners(sql, sessionId)
  if (typeof user_id === 'string' && user_id !== before.user_id) {
    await sql.run(
      `DELETE FROM push_config WHERE run_id = ANY (ARRAY(SELECT run_id FROM run WHERE session_id = $1
         AND status IN ('queued', 'running', 'input_required', 'interrupted')))`,
      [sessionId],
    )
  }
  return getSession(sql, sessionId)
}

/** False unless the session was handed over by that owner. */
export async function unshareSession(
  sql: Sql,
  sessionId: string,
  kind: OwnerKind,
  owner: string,
  at: string,
): Promise<boolean> {
  const [session] = await sql.all<SessionOwners>(lockRow(` AND ${kind}_id IS DISTINCT FROM $2`), [sessionId, owner])
  if (session === undefined) return false
  const removed = await sql.run('DELETE FROM session_owner WHERE session_id = $1 AND kind = $2 AND owner_id = $3', [
    sessionId,
    kind,
    owner,
  ])
  if (removed === 0) return false
  await sql.run(`UPDATE session SET ${touched('$2')} WHERE session_id = $1`, [sessionId, at])
  await touchOwners(sql, sessionId)
  return true
}
