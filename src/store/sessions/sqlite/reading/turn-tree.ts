import type { JsonObject } from '../../../../core/json.ts'
import type { RunHead, RunStatus } from '../../../../core/run.ts'
import { fromTurn, isBarren, type StandingTurn } from '../../../rules/turns.ts'
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
    isBarren: isBarren(status, row.is_silent === 1),
  }
}

type RunOfSession = Pick<RunHead, 'run_id' | 'session_id'>

export function findStateBefore(all: All, run: RunOfSession): Promise<JsonObject | null | undefined> {
  return findState(all, run, 0)
}

/** The newest turn of a long session costs one statement. */
export async function findStateAfter(all: All, run: RunOfSession): Promise<JsonObject | null | undefined> {
  const [row] = await all(
    `SELECT ifnull(state, 'null') AS state FROM sessions, runs AS own
     WHERE session_id = ?1 AND own.run_id = ?2 AND own.parent_run_id IS NULL AND NOT EXISTS (
       SELECT 1 FROM runs AS later
       WHERE later.run_session_id = ?1 AND later.parent_run_id IS NULL AND later.run_number > own.run_number)`,
    [run.session_id, run.run_id],
  )
  return typeof row?.state === 'string' ? JSON.parse(row.state) : findState(all, run, 1)
}

/** From before the first change by the turns from the `first` one on, counted from the run. */
async function findState(
  all: All,
  { run_id: runId, session_id: sessionId }: RunOfSession,
  first: number,
): Promise<JsonObject | null | undefined> {
  const ids = fromTurn(await readTurnTree(all, sessionId), runId).map(({ run_id }) => run_id)
  if (ids.length === 0) return undefined
  const [row] = await all(
    `SELECT coalesce(
       (SELECT state_before FROM json_each(?1) CROSS JOIN runs ON run_id = value
        WHERE state_before IS NOT NULL ORDER BY run_number LIMIT 1),
       (SELECT replaced_state FROM runs WHERE run_id = ?2 AND replaced_by IS NOT NULL),
       (SELECT ifnull(state, 'null') FROM sessions WHERE session_id = ?3)) AS state`,
    [JSON.stringify(ids.slice(first)), ids.at(-1) ?? null, sessionId],
  )
  return typeof row?.state === 'string' ? JSON.parse(row.state) : undefined
}
