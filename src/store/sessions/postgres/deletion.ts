import type { Sql } from '../../postgres/connection.ts'
import { tryGone, whyNotKept } from '../../rules/turns.ts'
import { deleteFilesOfRuns } from './files/delete.ts'
import { lockTree, lookOf, selectTry, type TreeRow, type TryColumns } from './writing/keep-try.ts'
import { forgetWords } from './writing/words.ts'

/** Runs per statement: few enough that none takes long. */
const runsAtOnce = 200

interface FoundRun {
  run_number: number
  run_id: string
}

/**
 * Deletes these sessions with all their data, except idempotency keys; gives how many there were. Other writes lock runs before
 * their sessions, and so does this.
 */
export async function deleteSessions(sql: Sql, sessionIds: readonly string[]): Promise<number> {
  // Without statistics it would sort all runs of a session for each step.
  await sql.run('SET LOCAL enable_bitmapscan = off')
  for (const id of sessionIds) await deleteRunsOf(sql, id)
  // Owners, summaries and their jobs go with the row.
  const count = await sql.run('DELETE FROM session WHERE session_id = ANY($1::text[])', [sessionIds])
  // Those that began meanwhile. No more can, now that the row is locked.
  for (const id of sessionIds) await deleteRunsOf(sql, id)
  await sql.run('DELETE FROM session_usage WHERE session_id = ANY($1::text[])', [sessionIds])
  return count
}

async function deleteRunsOf(sql: Sql, sessionId: string): Promise<void> {
  for (let last: number | undefined = 0; last !== undefined; ) {
    const found: FoundRun[] = await sql.all<FoundRun>(
      `SELECT run_number, run_id FROM run WHERE session_id = $1 AND run_number > $2
       ORDER BY session_id, run_number LIMIT ${runsAtOnce} FOR UPDATE`,
      [sessionId, last],
    )
    await deleteRuns(sql, found)
    last = found.at(-1)?.run_number
  }
}

/** Locked rows with all that belongs to them, except idempotency keys. */
async function deleteRuns(sql: Sql, runs: readonly FoundRun[]): Promise<void> {
  if (runs.length === 0) return
  const numbers = runs.map(({ run_number }) => run_number)
  const ids = runs.map(({ run_id }) => run_id)
  await sql.run('DELETE FROM run WHERE run_number = ANY($1::bigint[])', [numbers])
  await sql.run('DELETE FROM event WHERE run_number = ANY($1::bigint[])', [numbers])
  await sql.run('DELETE FROM cached_answer WHERE run_id = ANY($1::text[])', [ids])
  await sql.run('DELETE FROM push_config WHERE run_id = ANY($1::text[])', [ids])
  await deleteFilesOfRuns(sql, ids)
  await forgetWords(sql, numbers)
}

// A paused try that nobody has answered counts as ended. Its time is the first field of the text.
const dueTries = `SELECT run_number, run_id FROM run WHERE parent_run_id = '' AND status NOT IN ('running', 'queued')
  AND substring(ended FROM '^\\{"completed_at":"([^"]*)"') COLLATE "C" < $1
  ORDER BY run_number LIMIT $2 FOR UPDATE SKIP LOCKED`

const childrenOf = `SELECT run_number, run_id FROM run WHERE parent_run_id = ANY($1::text[]) ORDER BY run_number FOR UPDATE`

/** At most `limit` tries with their child runs; gives the number of deleted runs. */
export async function deleteTries(sql: Sql, before: string, limit: number): Promise<number> {
  const gone = await sql.all<FoundRun>(dueTries, [before, limit])
  for (let parents: FoundRun[] = gone; parents.length > 0; gone.push(...parents)) {
    parents = await sql.all<FoundRun>(childrenOf, [parents.map(({ run_id }) => run_id)])
  }
  await deleteRuns(sql, gone)
  return gone.length
}

/**
 * Deletes an ended try with its child runs. Gives the state that it left, if it changed any. Throws `conflict` when it is no
 * ended try (any more).
 */
export async function takeTry(sql: Sql, runId: string): Promise<string | null> {
  const tree = await sql.all<TreeRow>(lockTree, [runId])
  const [row] = await sql.all<TryColumns>(selectTry, [runId])
  if (row === undefined || whyNotKept(lookOf(row)) !== undefined) {
    throw tryGone(runId)
  }
  await deleteRuns(sql, tree)
  return row.replaced_state
}
