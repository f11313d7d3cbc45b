import { isEnded, type RunRecord } from '../../../../core/run.ts'
import type { TurnRestored } from '../../../../core/run-write.ts'
import { busyTurn, covers, replacement, restoration, type TurnChange, withdrawal } from '../../../rules/turns.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { readTurnTree, type StoredTurn, selectTurns, toTurn } from '../reading/turn-tree.ts'

/** Replaces turns and takes that back, inside the writer's transaction. */

/** The turns that another run is about to replace. */
interface Replaced {
  runId: string
  /** The first of them. */
  number: number
}

type NotReplaced = { outcome: 'turn_missing' } | { outcome: 'replaced'; by: string }

export async function findReplaced(
  writer: Connection,
  sessionId: string,
  runId: string,
): Promise<Replaced | NotReplaced> {
  const [turn] = await writer.all(
    'SELECT run_number, replaced_by FROM runs WHERE run_id = ? AND run_session_id = ? AND parent_run_id IS NULL',
    [runId, sessionId],
  )
  if (turn === undefined) return { outcome: 'turn_missing' }
  if (turn.replaced_by !== null) return { outcome: 'replaced', by: turn.replaced_by as string }
  return { runId, number: turn.run_number as number }
}

/** Call it before the new run is stored. Gives the replaced turns that have not ended. */
export async function replaceTurns(
  writer: Connection,
  { runId, number }: Replaced,
  by: Pick<RunRecord, 'run_id' | 'session_id' | 'created_at'>,
): Promise<string[]> {
  const rows = await writer.all(
    `${selectTurns} AND replaced_by IS NULL AND run_number >= ifnull((SELECT max(run_number) FROM runs
       WHERE run_session_id = ?1 AND parent_run_id IS NULL AND replaced_by IS NULL AND run_number < ?2), ?2)
     ORDER BY run_number`,
    [by.session_id, number],
  )
  const change = replacement(rows.map(toTurn), runId, by.run_id)
  if ((await findCoverage(writer, by.session_id)) !== undefined) {
    const [before] = await writer.all(
      `SELECT count(*) AS turn_count FROM runs
       WHERE run_session_id = ? AND parent_run_id IS NULL AND replaced_by IS NULL AND run_number < ?`,
      [by.session_id, number],
    )
    change.place = before?.turn_count as number
  }
  await mark(writer, by.session_id, change, by.created_at)
  return change.away.filter(({ status }) => !isEnded(status)).map(({ run_id }) => run_id)
}

/** When the run begins: gives the session the state from before the turns that it replaced. */
export async function rewindState(writer: Connection, runId: string, sessionId: string): Promise<void> {
  const kept = await writer.run(
    `UPDATE runs SET replaced_state = (SELECT ifnull(state, 'null') FROM sessions WHERE session_id = ?1)
     WHERE run_number = (SELECT max(run_number) FROM runs WHERE replaced_by = ?2)`,
    [sessionId, runId],
  )
  if (kept === 0) return
  const [first] = await writer.all(
    `SELECT state_before FROM runs WHERE replaced_by = ? AND state_before IS NOT NULL ORDER BY run_number LIMIT 1`,
    [runId],
  )
  if (first !== undefined) await setState(writer, sessionId, first.state_before as string)
}

/** After a run ended that said nothing. */
export async function bringBack(writer: Connection, runId: string, sessionId: string, at: string): Promise<void> {
  const [replaced] = await writer.all('SELECT 1 FROM runs WHERE replaced_by = ? LIMIT 1', [runId])
  if (replaced === undefined) return
  const change = withdrawal(await readTurnTree((...query) => writer.all(...query), sessionId), runId)
  if (change !== undefined) await move(writer, sessionId, change, at)
}

export async function restoreTurn(writer: Connection, runId: string, at: string): Promise<TurnRestored> {
  const [run] = await writer.all(
    'SELECT session_id, replaced_by FROM runs CROSS JOIN sessions ON session_id = run_session_id WHERE run_id = ?',
    [runId],
  )
  if (run === undefined) return { outcome: 'missing' }
  if (run.replaced_by === null) return { outcome: 'current' }
  const sessionId = run.session_id as string
  const turns = await readTurnTree((...query) => writer.all(...query), sessionId)
  const change = restoration(turns, runId)
  const busy = busyTurn(turns, change)
  if (busy !== undefined) return { outcome: 'busy', run_id: busy.run_id }
  await move(writer, sessionId, change, at)
  await writer.run('UPDATE sessions SET updated_at = ?, revision = revision + 1 WHERE session_id = ?', [at, sessionId])
  await writer.run('UPDATE session_owners SET owner_updated_at = ? WHERE owner_session_id = ?', [at, sessionId])
  return { outcome: 'restored' }
}

/** The state goes with the conversation. */
export async function move(
  writer: Connection,
  sessionId: string,
  change: TurnChange<StoredTurn>,
  at: string,
): Promise<void> {
  const [left, joined] = [change.away.at(-1), change.back.at(-1)]
  const [found] = joined ? await writer.all('SELECT replaced_state FROM runs WHERE run_id = ?', [joined.run_id]) : []
  await writer.run(
    `UPDATE runs SET replaced_state = (SELECT ifnull(state, 'null') FROM sessions WHERE session_id = ?) WHERE run_id = ?`,
    [sessionId, left?.run_id ?? null],
  )
  await writer.run('UPDATE runs SET replaced_state = NULL WHERE run_id = ?', [joined?.run_id ?? null])
  if (typeof found?.replaced_state === 'string') await setState(writer, sessionId, found.replaced_state)
  await mark(writer, sessionId, change, at)
}

async function setState(writer: Connection, sessionId: string, state: string): Promise<void> {
  await writer.run(`UPDATE sessions SET state = nullif(?, 'null') WHERE session_id = ?`, [state, sessionId])
}

async function mark(writer: Connection, sessionId: string, change: TurnChange<StoredTurn>, at: string): Promise<void> {
  const [first] = change.away
  const summary = first && (await findCoverage(writer, sessionId))
  if (summary !== undefined && covers(summary, change.place, first as StoredTurn)) {
    await writer.run('DELETE FROM summaries WHERE summary_session_id = ?', [sessionId])
    await writer.run(
      `INSERT INTO summary_jobs (job_session_id, scheduled_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET job_attempts = 0`,
      [sessionId, at],
    )
  }
  const marks = change.marks.map(({ run_id, replaced_by, follows }) => [run_id, replaced_by, follows])
  await writer.run(
    `UPDATE runs SET replaced_by = value ->> 1, follows = value ->> 2 FROM json_each(?) WHERE run_id = value ->> 0`,
    [JSON.stringify(marks)],
  )
}

/** What the summary of the session covers, if it has one. */
async function findCoverage(writer: Connection, sessionId: string): Promise<Parameters<typeof covers>[0] | undefined> {
  const [row] = await writer.all(
    'SELECT summary_run_count, summary_created_at FROM summaries WHERE summary_session_id = ?',
    [sessionId],
  )
  return row && { run_count: row.summary_run_count as number, created_at: row.summary_created_at as string }
}
