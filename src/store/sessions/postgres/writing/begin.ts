import type { JsonObject } from '../../../../core/json.ts'
import type { RunBegun } from '../../../../core/run-write.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { fromJson, toJson } from '../../rows/rows.ts'
import type { Database } from '../database.ts'
import { hasTurn, type LockedRun, lockRun, lockSession, touch } from './look.ts'
import { failureCode } from './persistence.ts'
import { lockReplacedBy, rewindState } from './turns.ts'

/** Never in a group: what forbids a beginning would undo the group. */
export async function beginRun(
  database: Database,
  runId: string,
  fence: number,
  at: string,
  again: boolean,
): Promise<RunBegun> {
  try {
    const begun = await database.work((sql) => begin(sql, { runId, fence, at, again }))
    if (begun === 'begun') database.commits.recorded(runId)
    return begun
  } catch (error) {
    // Another run of the session began at this moment.
    if (failureCode(error) === '23505') return 'wait'
    throw error
  }
}

interface Beginning {
  runId: string
  fence: number
  at: string
  /** It was asked for before, and may have been written. */
  again: boolean
}

const turnOf = (condition: string) =>
  `(SELECT 1 FROM run AS other WHERE other.session_id = run.session_id AND other.parent_run_id IS NULL AND ${condition} LIMIT 1)`

/** Nearly always all that there is to do. */
const beginPlain = `WITH b AS (UPDATE run SET status = 'running', started_at = $3
    WHERE run_id = $1 AND fence = $2 AND CASE WHEN status = 'queued' THEN cancel_reason IS NULL AND start_state IS NULL END
      AND (parent_run_id IS NOT NULL OR coalesce(${turnOf("other.status = 'running'")},
        ${turnOf("other.status = 'queued' AND other.run_number < run.run_number")}) IS NULL)
    RETURNING session_id, is_try),
  s AS (UPDATE session SET updated_at = greatest(updated_at, $3), revision = revision + 1 FROM b
    WHERE session.session_id = b.session_id AND NOT is_try RETURNING session.session_id, updated_at),
  so AS (UPDATE session_owner SET updated_at = s.updated_at FROM s WHERE session_owner.session_id = s.session_id)
  SELECT 1 FROM b`

async function begin(sql: Sql, { runId, fence, at, again }: Beginning): Promise<RunBegun> {
  if ((await sql.all(beginPlain, [runId, fence, at])).length > 0) return 'begun'
  const run = await lockRun(sql, runId)
  if (run === undefined || run.fence !== fence) return 'gone'
  if (again && run.status === 'running') return 'begun'
  if (run.status !== 'queued') return 'gone'
  // Its owner is asked to end it.
  if (run.cancel_reason !== null) return 'wait'
  const isTurn = run.parent_run_id === null
  if (isTurn && (await hasTurn(sql, run.session_id, 'running'))) return 'wait'
  if (isTurn && (await waitsForAnother(sql, run.session_id, run.run_number))) return 'wait'
  // Before the session is locked: who else begins has its turn first, and then waits for the session.
  await sql.run(`UPDATE run SET status = 'running', started_at = $2, start_state = NULL WHERE run_id = $1`, [runId, at])
  if (!run.is_try) await takeState(sql, run, runId)
  if (!run.is_try) await touch(sql, run.session_id, at)
  return 'begun'
}

/** The session gets the state from before the turns that the run replaces, with its own state merged into it. */
async function takeState(sql: Sql, { session_id: sessionId, start_state }: LockedRun, runId: string): Promise<void> {
  const state = fromJson<JsonObject>(start_state)
  if (state === null) return
  await lockReplacedBy(sql, runId)
  await lockSession(sql, sessionId)
  await rewindState(sql, runId, sessionId)
  if (Object.keys(state).length === 0) return
  const before = (await lockSession(sql, sessionId))?.state ?? null
  await sql.run('UPDATE session SET state = $2 WHERE session_id = $1', [
    sessionId,
    toJson({ ...fromJson<JsonObject>(before), ...state }),
  ])
  await sql.run(`UPDATE run SET state_before = coalesce(state_before, $2, 'null') WHERE run_id = $1`, [runId, before])
}

async function waitsForAnother(sql: Sql, sessionId: string, runNumber: number): Promise<boolean> {
  const found = await sql.all(
    `SELECT 1 FROM run WHERE session_id = $1 AND status = 'queued' AND run_number < $2::bigint AND parent_run_id IS NULL LIMIT 1`,
    [sessionId, runNumber],
  )
  return found.length > 0
}
