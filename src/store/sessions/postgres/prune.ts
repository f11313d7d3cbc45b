import type { PruneRule } from '../../../core/store.ts'
import type { Sql } from '../../postgres/connection.ts'
import { tryLock } from '../../postgres/locks.ts'
import { takeSmall } from '../../rules/prune.ts'
import { deleteSessions } from './deletion.ts'
import { ownedBy, Values } from './reading/listed.ts'

interface Due {
  session_id: string
  run_count: number
}

/** `busy`: one process at a time deletes, and this is another's turn. */
export async function pruneSessions(sql: Sql, rule: PruneRule, limit: number): Promise<number | 'busy'> {
  if (!(await tryLock(sql, 'prune'))) return 'busy'
  const { olderThan, maxSessions } = rule
  let due = olderThan === undefined ? [] : await findDue(sql, { ...rule, olderThan }, limit)
  if (due.length === 0 && maxSessions !== undefined) {
    const excess = Math.min(limit, (await countSessions(sql)) - maxSessions)
    if (excess > 0) due = await findDue(sql, { olderThan: '~' }, excess)
  }
  const ids = takeSmall(due.map(({ session_id: id, run_count: runs }) => ({ id, runs })))
  const idle = await withoutActive(sql, ids)
  return idle.length === 0 ? 0 : deleteSessions(sql, idle.sort())
}

// A CASE, so that it reads the runs of the session and not those that are active anywhere.
const hasActive = `(SELECT true FROM run WHERE run.session_id = session.session_id
  AND CASE WHEN status IN ('running', 'queued') THEN true END LIMIT 1)`

/** Locks the sessions. Another process may be at work on those that it leaves out. */
function findDue(
  sql: Sql,
  { olderThan, filter = {}, presentUser }: PruneRule & { olderThan: string },
  limit: number,
): Promise<Due[]> {
  const values = new Values()
  const conditions = [`updated_at < ${values.add(olderThan)}`, `${hasActive} IS NULL`, ...ownedBy(filter, values)]
  if (presentUser !== undefined) conditions.push(`user_id = ${values.add(presentUser)}`)
  return sql.all<Due>(
    `SELECT session_id, run_count FROM session WHERE ${conditions.join(' AND ')}
     ORDER BY updated_at, session_id LIMIT ${values.add(limit)} FOR UPDATE SKIP LOCKED`,
    values.all,
  )
}

/** The look for runs was older than the locks. No turn can begin in a session that is locked. */
async function withoutActive(sql: Sql, sessionIds: readonly string[]): Promise<string[]> {
  const rows = await sql.all<Pick<Due, 'session_id'>>(
    `SELECT session_id FROM session WHERE session_id = ANY($1::text[]) AND ${hasActive} IS NULL`,
    [sessionIds],
  )
  return rows.map(({ session_id }) => session_id)
}

async function countSessions(sql: Sql): Promise<number> {
  const [row] = await sql.all<{ session_count: number }>('SELECT count(*) AS session_count FROM session')
  return row?.session_count ?? 0
}
