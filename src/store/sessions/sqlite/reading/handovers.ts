import type { Run } from '../../../../core/run.ts'
import type { Handover, SessionCopy } from '../../../../core/session.ts'
import type { Connection, SqlRow } from '../../../sqlite/connection.ts'
import { oldestFirst, toRun } from '../../rows/rows.ts'
import { selectRunPage, turnOf } from './queries.ts'
import type { All } from './records.ts'

/** Earlier users of a session may read the runs up to the latest one at the time of the handover. */

const turnsOf = 'run_session_id = ?1 AND parent_run_id IS NULL'

/** The newest run: the limit for the present user after a handover. */
export const newestTurn = `(SELECT max(run_number) FROM runs WHERE run_session_id = ? AND parent_run_id IS NULL)`

const selectReach = `SELECT ifnull(owner_read_until, 0) AS reach FROM session_owners
  WHERE owner_session_id = ? AND owner_kind = 'user' AND owner_id = ?`

/** For searches: the present user sees all messages, an earlier one those up to the handover. */
export const readableBy = `(user_id = ? OR run_number <= (SELECT mine.owner_read_until FROM session_owners AS mine
  WHERE mine.owner_session_id = session_id AND mine.owner_kind = 'user' AND mine.owner_id = ?))`

/** Whether a reader learns that a turn was replaced. Both parameters: an earlier user, who learns it when it was so at the handover. */
export const isReplacedFor = `(replaced_by IS NOT NULL AND (user_id = ? OR
  (SELECT later.run_number FROM runs AS later WHERE later.run_id = runs.replaced_by) <= (SELECT mine.owner_read_until
    FROM session_owners AS mine
    WHERE mine.owner_session_id = session_id AND mine.owner_kind = 'user' AND mine.owner_id = ?)))`

/** Whether a turn is part of the conversation as it was when the run number `reach` was the newest. */
export const isReadable = (reach: string) => `run_number <= ${reach} AND (replaced_by IS NULL
  OR (SELECT later.run_number FROM runs AS later WHERE later.run_id = runs.replaced_by) > ${reach})`

const reachInSession = (session: string) => `(SELECT owner_read_until FROM session_owners
  WHERE owner_session_id = ${session} AND owner_kind = 'user' AND owner_id = ?)`

/** The last turn that an earlier user may read. Both parameters: the user. */
export const lastReadable = (fields: string, session: string) =>
  turnOf(fields, session, isReadable(reachInSession(session)), 'DESC')

/** The number of the last run that an earlier user may read, 0 for none; undefined for a stranger. */
export async function reachOf(all: All, sessionId: string, userId: string): Promise<number | undefined> {
  const [row] = await all(selectReach, [sessionId, userId])
  return row?.reach as number | undefined
}

export async function findHandover(
  all: All,
  sessionId: string,
  userId: string,
  newest: number,
): Promise<Handover | undefined> {
  const reach = await reachOf(all, sessionId, userId)
  if (reach === undefined) return undefined
  const within = [sessionId, reach]
  const [[counted], [last], [next], runs] = await Promise.all([
    all(`SELECT count(*) AS turn_count FROM runs WHERE ${turnsOf} AND run_number <= ?2`, within),
    all(`SELECT run_id FROM runs WHERE ${turnsOf} AND ${isReadable('?2')} ORDER BY run_number DESC LIMIT 1`, within),
    all(`${selectRunPage(`FROM runs WHERE ${turnsOf} AND run_number > ?2`)} ORDER BY run_number LIMIT 1`, within),
    all(`${selectRunPage(`FROM runs WHERE ${turnsOf} AND run_number <= ?2`)} ORDER BY run_number DESC LIMIT ?3`, [
      ...within,
      newest,
    ]),
  ])
  const toTurn = (found: SqlRow): [runNumber: number, Run] => [
    found.run_number as number,
    toRun(JSON.parse(found.run_row as string)),
  ]
  const later = next && toTurn(next)[1]
  return {
    last: (last?.run_id as string | undefined) ?? null,
    run_count: counted?.turn_count as number,
    runs: oldestFirst(runs.map(toTurn)).map(([, run]) => run),
    next: later === undefined ? null : { run_id: later.run_id, created_at: later.created_at },
  }
}

export async function listHandovers(all: All, sessionId: string): Promise<Record<string, string | null>> {
  const rows = await all(
    `SELECT owner_id, (SELECT run_id FROM runs WHERE ${turnsOf} AND run_number <= owner_read_until AND ended IS NOT NULL
       ORDER BY run_number DESC LIMIT 1) AS last_run_id
     FROM session_owners WHERE owner_session_id = ?1 AND owner_kind = 'user' ORDER BY owner_position`,
    [sessionId],
  )
  return Object.fromEntries(rows.map((row) => [row.owner_id as string, row.last_run_id as string | null]))
}

export async function isBefore(all: All, runId: string, otherId: string): Promise<boolean> {
  const [row] = await all(
    `SELECT 1 AS is_before FROM runs WHERE run_id = ?
       AND run_number < (SELECT run_number FROM runs WHERE run_id = ?)`,
    [runId, otherId],
  )
  return row !== undefined
}

/** Call it when the runs of a copy are stored. What the copy does not say is derived from the users' own runs. */
export async function restoreHandovers(
  writer: Connection,
  { session: { session_id: id, shared_with }, handovers = {} }: Pick<SessionCopy, 'session' | 'handovers'>,
): Promise<void> {
  for (const user of shared_with.user_ids) {
    const said = Object.hasOwn(handovers, user)
    const which = said ? 'run_id = ?' : 'run_user_id = ?'
    await writer.run(
      `UPDATE session_owners SET owner_read_until = (SELECT max(run_number) FROM runs
         WHERE run_session_id = owner_session_id AND parent_run_id IS NULL AND ${which})
       WHERE owner_session_id = ? AND owner_kind = 'user' AND owner_id = ?`,
      [said ? (handovers[user] ?? null) : user, id, user],
    )
  }
}
