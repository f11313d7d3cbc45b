import type { PruneRule } from '../../../core/store.ts'
import { takeSmall } from '../../rules/prune.ts'
import type { Connection } from '../../sqlite/connection.ts'
import type { GoneSessions } from './hidden/remove-sessions.ts'
import { ownedBy } from './reading/lists.ts'
import { deleteSessions } from './sessions.ts'

// A subquery for active runs reads a few rows of one index, instead of each session's runs.
const selectDue = (conditions = '') => `SELECT session_id, run_count FROM sessions WHERE updated_at < ?
  AND session_id NOT IN (SELECT run_session_id FROM runs WHERE status IN ('running', 'queued'))${conditions}
  ORDER BY updated_at, session_id LIMIT ?`

export async function pruneSessions(writer: Connection, rule: PruneRule, limit: number): Promise<GoneSessions> {
  const { olderThan, maxSessions, filter = {}, presentUser } = rule
  const owned = ownedBy(filter)
  if (presentUser !== undefined) {
    owned.conditions += ' AND user_id = ?'
    owned.params.push(presentUser)
  }
  let due =
    olderThan === undefined ? [] : await writer.all(selectDue(owned.conditions), [olderThan, ...owned.params, limit])
  if (due.length === 0 && maxSessions !== undefined) {
    const excess = Math.min(limit, (await countSessions(writer)) - maxSessions)
    if (excess > 0) due = await writer.all(selectDue(), ['~', excess])
  }
  const sessionIds = takeSmall(due.map((row) => ({ id: row.session_id as string, runs: row.run_count as number })))
  if (sessionIds.length === 0) return { sessionIds, count: 0, runs: [], left: [] }
  return deleteSessions(writer, sessionIds)
}

/** Reads a whole index, so a reading connection asks first: commits wait only when sessions must be deleted. */
export async function countSessions(connection: Pick<Connection, 'all'>): Promise<number> {
  const [row] = await connection.all('SELECT count(*) AS session_count FROM sessions')
  return row?.session_count as number
}
