import type { JsonObject } from '../../../../core/json.ts'
import { isEnded, type RunHead, type RunStatus } from '../../../../core/run.ts'
import { fromTurn, type StandingTurn } from '../../../rules/turns.ts'
import type { SqlRow } from '../../../sqlite/connection.ts'
import type { All } from './records.ts'

/** The turns of a session with their marks, on a connection that reads or writes. */

export type StoredTurn = StandingTurn

/** Takes the session; more conditions may follow. */
export const selectTurns = `SELECT run_id, status, begun ->> 'created_at' AS created_at, replaced_by, follows, output IS NULL AS is_silent
  FROM runs WHERE run_session_id = ? AND parent_run_id IS NULL`

/** In stored order. */
export async function readTurnTree(all: All, sessionId: string): Promise<StoredTurn[]> {
  return (await all(`${selectTurns} ORDER BY run_number`, [sessionId])).map(toTurn)
}

export function toTurn(row: SqlRow): StoredTurn {
  const status = row.status as RunStatus
  return {
    run_id: row.run_id as string,
    status,
    created_at: row.created_at as string,
    replaced_by: row.replaced_by as string | null,
    follows: row.follows as string | null,
    isBarren: row.is_silent === 1 && isEnded(status) && status !== 'completed' && status !== 'input_required',
  }
}

export async function findStateBefore(
  all: All,
  { run_id: runId, session_id: sessionId }: Pick<RunHead, 'run_id' | 'session_id'>,
): Promise<JsonObject | null | undefined> {
  const ids = fromTurn(await readTurnTree(all, sessionId), runId).map(({ run_id }) => run_id)
  if (ids.length === 0) return undefined
  const [row] = await all(
    `SELECT coalesce(
       (SELECT state_before FROM json_each(?1) CROSS JOIN runs ON run_id = value
        WHERE state_before IS NOT NULL ORDER BY run_number LIMIT 1),
       (SELECT replaced_state FROM runs WHERE run_id = ?2 AND replaced_by IS NOT NULL),
       (SELECT ifnull(state, 'null') FROM sessions WHERE session_id = ?3)) AS state`,
    [JSON.stringify(ids), ids.at(-1) ?? null, sessionId],
  )
  return typeof row?.state === 'string' ? JSON.parse(row.state) : undefined
}
