import type { Connection } from '../../sqlite/connection.ts'
import { type RemovedRows, removeFound } from './hidden/remove.ts'
import { isShown } from './schema/hidden.ts'

// A paused try that nobody has answered counts as ended.
const dueTries = `FROM runs WHERE parent_run_id = '' AND status NOT IN ('running', 'queued')
  AND ended ->> '$.completed_at' < ?1 AND ${isShown}`

// Children before their parents, so that none is left without the try that it belongs to.
const triesAndChildren = `FROM (WITH RECURSIVE gone(number, id) AS (
    SELECT run_number, run_id FROM (SELECT run_number, run_id ${dueTries} ORDER BY run_number LIMIT ?2)
    UNION ALL SELECT run_number, run_id FROM gone CROSS JOIN runs ON parent_run_id = id)
  SELECT number FROM gone) CROSS JOIN runs ON run_number = number ORDER BY run_number DESC`

/** Asked of a reading connection first: commits wait only when there is something to delete. */
export async function hasDueTries(connection: Pick<Connection, 'all'>, before: string): Promise<boolean> {
  return (await connection.all(`SELECT 1 ${dueTries} LIMIT 1`, [before])).length > 0
}

/** One commit's part of deleting at most `limit` tries. */
export function removeTries(writer: Connection, before: string, limit: number): Promise<RemovedRows> {
  return removeFound(writer, triesAndChildren, [before, limit])
}
