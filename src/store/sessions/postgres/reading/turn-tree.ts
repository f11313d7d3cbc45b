import type { JsonObject } from '../../../../core/json.ts'
import type { RunHead, RunStatus } from '../../../../core/run.ts'
import { fromTurn, isBarren, type StandingTurn, type Turn } from '../../../rules/turns.ts'
import type { Reader } from './records.ts'

/** The turns of a session with their marks, in a transaction or by themselves. */

export type StoredTurn = StandingTurn

export interface TurnColumns extends Omit<Turn, 'isBarren'> {
  status: RunStatus
  is_silent: boolean
}

const createdAt = `substring(left(begun, 200) FROM '"created_at":"([^"]*)"')`

export const selectTurnRow = (
  more = '',
) => `SELECT run_id, status, ${createdAt} AS created_at, replaced_by, follows, output IS NULL AS is_silent${more}
  FROM run`

/** Takes the session; more conditions may follow. */
export const selectTurns = `${selectTurnRow()} WHERE session_id = $1 AND parent_run_id IS NULL`

/** In stored order. */
export async function readTurnTree(sql: Reader, sessionId: string): Promise<StoredTurn[]> {
  return (await sql.all<TurnColumns>(`${selectTurns} ORDER BY run_number`, [sessionId])).map(toTurn)
}

export function toTurn({ is_silent: isSilent, ...turn }: TurnColumns): StoredTurn {
  return { ...turn, isBarren: isBarren(turn.status, isSilent) }
}

// OFFSET: the planner could look for the first run that fits by the order of all runs. CASE: it could walk the index of
// replaced turns while it believes that there are none.
const firstChange = `SELECT min(run_number) FROM (SELECT run_number FROM run
  WHERE run_id = ANY($1::text[]) AND state_before IS NOT NULL OFFSET 0) AS changes`
const selectState = `SELECT coalesce(
  (SELECT state_before FROM run WHERE run_number = (${firstChange})),
  (SELECT CASE WHEN replaced_by IS NOT NULL THEN replaced_state END FROM run WHERE run_id = $2),
  (SELECT coalesce(state, 'null') FROM session WHERE session_id = $3)) AS state`

type RunOfSession = Pick<RunHead, 'run_id' | 'session_id'>

export function findStateBefore(sql: Reader, run: RunOfSession): Promise<JsonObject | null | undefined> {
  return findState(sql, run, 0)
}

// run_by_session has the later runs of the session in order.
const selectNewest = `SELECT coalesce(state, 'null') AS state FROM session WHERE session_id = $1 AND NOT EXISTS (
  SELECT 1 FROM run WHERE session_id = $1 AND parent_run_id IS NULL
    AND run_number > (SELECT run_number FROM run WHERE run_id = $2)) AND EXISTS (
  SELECT 1 FROM run WHERE run_id = $2 AND parent_run_id IS NULL)`

/** The newest turn of a long session costs one statement. */
export async function findStateAfter(sql: Reader, run: RunOfSession): Promise<JsonObject | null | undefined> {
  const [row] = await sql.all<{ state: string }>(selectNewest, [run.session_id, run.run_id])
  return row === undefined ? findState(sql, run, 1) : JSON.parse(row.state)
}

/** From before the first change by the turns from the `first` one on, counted from the run. */
async function findState(
  sql: Reader,
  { run_id: runId, session_id: sessionId }: RunOfSession,
  first: number,
): Promise<JsonObject | null | undefined> {
  const ids = fromTurn(await readTurnTree(sql, sessionId), runId).map(({ run_id }) => run_id)
  if (ids.length === 0) return undefined
  const [row] = await sql.all<{ state: string | null }>(selectState, [ids.slice(first), ids.at(-1), sessionId])
  return row === undefined || row.state === null ? undefined : JSON.parse(row.state)
}
