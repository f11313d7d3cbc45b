import { and, type Column, eq, exists, inArray, type Placeholder, sql } from 'drizzle-orm'
import { AppError, notFound } from '../../../core/error.ts'
import type { Claim, ClaimRecord } from '../../../core/run-write.ts'
import type { OwnerKind, SessionChange, SessionOwners, SessionRecord, SessionSeed } from '../../../core/session.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { execute, type Places, query } from '../../sqlite/query.ts'
import { ownersOf, type SessionRow, toJson } from '../rows/rows.ts'
import { removeSome } from './hidden/remove.ts'
import type { GoneSessions } from './hidden/remove-sessions.ts'
import { newestTurn } from './reading/handovers.ts'
import { readSession } from './reading/sessions.ts'
import { namesOf, sessionColumns, type ValuesOf } from './schema/columns.ts'
import { hide, inTheWay, isHidden } from './schema/hidden.ts'
import { runs, sessionOwners, sessions } from './schema/schema.ts'
import { completeClaim, takeClaim } from './writing/claims.ts'
import { touch } from './writing/single-write.ts'
import { deleteUsage } from './writing/usage.ts'

/** Writes off the hot path. Each runs by itself in the writer's transaction. */

// As SQL: drizzle takes a fifth of the time of creating a session.
const insert = `INSERT INTO sessions (${namesOf(sessions, sessionColumns).join(', ')})
  VALUES (${sessionColumns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`

/** Throws `conflict` when the id is taken. */
export async function insertSession(
  writer: Connection,
  seed: SessionSeed,
  { updatedAt, runCount }: { updatedAt: string; runCount: number },
): Promise<void> {
  const { session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state, created_at } = seed
  const owners = [agent_id, team_id, workflow_id, user_id] as const
  const texts = [name, toJson(metadata), toJson(state)] as const
  const row: ValuesOf<SessionRow, typeof sessionColumns> = [
    session_id,
    ...owners,
    ...texts,
    created_at,
    updatedAt,
    1,
    runCount,
  ]
  const inserted = await writer.run(insert, row)
  if (inserted === 0) throw new AppError('conflict', `Session '${session_id}' already exists.`)
}

export async function createSession(
  writer: Connection,
  seed: SessionSeed,
  claim: Claim | undefined,
  now: string,
): Promise<SessionRecord | { claimed: ClaimRecord }> {
  const claimed = claim && (await takeClaim(writer, claim, now))
  if (claimed) return { claimed }
  if (await isHidden(writer, seed.session_id)) throw inTheWay(seed.session_id)
  await insertSession(writer, seed, { updatedAt: seed.created_at, runCount: 0 })
  const record = await getSession(writer, seed.session_id)
  if (claim) await completeClaim(writer, claim.key, record)
  return record
}

const insertOwner = `INSERT INTO session_owners VALUES (?, ?, ?,
  (SELECT ifnull(max(owner_position), -1) + 1 FROM session_owners WHERE owner_session_id = ?), ?, ${newestTurn})
  ON CONFLICT DO UPDATE SET owner_read_until = excluded.owner_read_until`

/** Appends owners in this order. A user may read up to the newest run. */
export async function addOwners(
  writer: Connection,
  id: string,
  owners: readonly [kind: OwnerKind, owner: string][],
  at: string,
): Promise<void> {
  for (const [kind, owner] of owners) await writer.run(insertOwner, [id, kind, owner, id, at, id])
}

/** Throws `session_not_found`. */
export async function getSession(writer: Connection, sessionId: string): Promise<SessionRecord> {
  const found = await readSession((text, params) => writer.all(text, params), sessionId)
  if (found === undefined) throw notFound('session', sessionId)
  return found
}

export async function updateSession(
  writer: Connection,
  sessionId: string,
  { name, metadata, state }: SessionChange,
  at: string,
  revision: number | undefined,
): Promise<SessionRecord> {
  if (revision !== undefined && (await getSession(writer, sessionId)).revision !== revision) {
    throw new AppError(
      'precondition_failed',
      `The session '${sessionId}' has changed since it was read. Read it again, then retry.`,
    )
  }
  const isChange = name !== undefined || metadata !== undefined || state !== undefined
  if (isChange) {
    await setFields(writer, sessionId, {
      name,
      metadata: metadata === undefined ? undefined : toJson(metadata),
      state: state === undefined ? undefined : toJson(state),
    })
    await touch(writer, sessionId, at)
  }
  return getSession(writer, sessionId)
}

/** Undefined fields are left out. */
type Fields = { [Name in keyof SessionRow]?: SessionRow[Name] | undefined }

async function setFields(writer: Connection, sessionId: string, fields: Fields): Promise<void> {
  await execute(writer, (database) => database.update(sessions).set(fields).where(eq(sessions.sessionId, sessionId)))
}

export async function shareSession(
  writer: Connection,
  sessionId: string,
  owners: Partial<SessionOwners>,
  at: string,
): Promise<SessionRecord> {
  const before = await getSession(writer, sessionId)
  if (ownersOf(owners).length > 0) {
    await addOwners(writer, sessionId, ownersOf(before.session), at)
    await setFields(writer, sessionId, {
      agentId: owners.agent_id ?? undefined,
      teamId: owners.team_id ?? undefined,
      workflowId: owners.workflow_id ?? undefined,
      userId: owners.user_id ?? undefined,
    })
  }
  const { user_id } = owners
  if (typeof user_id === 'string' && user_id !== before.session.user_id) {
    await writer.run(
      `DELETE FROM push_configs WHERE push_run_id IN (SELECT run_id FROM runs WHERE run_session_id = ?
         AND status IN ('queued', 'running', 'input_required', 'interrupted'))`,
      [sessionId],
    )
  }
  await touch(writer, sessionId, at)
  return getSession(writer, sessionId)
}

const presentOwners = {
  agent: sessions.agentId,
  team: sessions.teamId,
  workflow: sessions.workflowId,
  user: sessions.userId,
}

/** False unless the session was handed over by that owner. */
export async function unshareSession(
  writer: Connection,
  sessionId: string,
  kind: OwnerKind,
  owner: string,
  at: string,
): Promise<boolean> {
  const { sessionId: id, kind: ownerKind, ownerId } = sessionOwners
  const removed = await execute(writer, (database) => {
    const isPresent = sql`${presentOwners[kind]} IS NOT ${ownerId}`
    const session = database
      .select()
      .from(sessions)
      .where(and(eq(sessions.sessionId, id), isPresent))
    const isOwner = and(eq(id, sessionId), eq(ownerKind, kind), eq(ownerId, owner))
    return database.delete(sessionOwners).where(and(isOwner, exists(session)))
  })
  if (removed > 0) await touch(writer, sessionId, at)
  return removed > 0
}

const among = (column: Column, ids: Placeholder) => sql`${column} IN (SELECT value FROM json_each(${ids}))`
const deleteRows = query((database, { ids }: Places<{ ids: string }>) =>
  database.delete(sessions).where(among(sessions.sessionId, ids)),
)
// Active runs of the sessions can write no more.
const fenceRuns = query((database, { ids }: Places<{ ids: string }>) =>
  database
    .update(runs)
    .set({ fence: sql`${runs.fence} + 1` })
    .where(and(among(runs.sessionId, ids), inArray(runs.status, ['running', 'queued']))),
)

/** Deletes the sessions with all their data. Readers stop seeing them at once. */
export async function deleteSessions(writer: Connection, sessionIds: readonly string[]): Promise<GoneSessions> {
  const ids = JSON.stringify(sessionIds)
  const count = await deleteRows(writer, { ids })
  await deleteUsage(writer, ids)
  const { runs, isDone } = await removeSome(writer, sessionIds)
  if (isDone) return { sessionIds, count, runs, left: [] }
  await hide(writer, sessionIds)
  await fenceRuns(writer, { ids })
  return { sessionIds, count, runs, left: [...sessionIds] }
}
