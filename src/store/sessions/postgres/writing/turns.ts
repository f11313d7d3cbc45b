import { isEnded, type RunRecord } from '../../../../core/run.ts'
import type { TurnRestored } from '../../../../core/run-write.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { busyTurn, covers, replacement, restoration, type TurnChange, withdrawal } from '../../../rules/turns.ts'
import { readTurnTree, type StoredTurn, selectTurns, type TurnColumns, toTurn } from '../reading/turn-tree.ts'
import { lockSession, Overtaken, touch } from './look.ts'

/*
 * Replaces turns and takes that back. Rows of runs are locked before that of their session: which ones is found out before,
 * and again once nobody else can change the session.
 */

/** The turns that another run is about to replace. */
export interface Replaced {
  runId: string
  /** The first of them. */
  number: number
}

type NotReplaced = { outcome: 'turn_missing' } | { outcome: 'replaced'; by: string }

/** Lock the session after it. */
export async function lockReplaced(sql: Sql, sessionId: string, runId: string): Promise<void> {
  await sql.all(
    `SELECT 1 FROM run WHERE session_id = $1 AND parent_run_id IS NULL AND replaced_by IS NULL
       AND run_number >= (SELECT run_number FROM run WHERE run_id = $2) ORDER BY run_number FOR UPDATE`,
    [sessionId, runId],
  )
}

export async function findReplaced(sql: Sql, sessionId: string, runId: string): Promise<Replaced | NotReplaced> {
  const [turn] = await sql.all<{ run_number: number; replaced_by: string | null }>(
    'SELECT run_number, replaced_by FROM run WHERE run_id = $1 AND session_id = $2 AND parent_run_id IS NULL',
    [runId, sessionId],
  )
  if (turn === undefined) return { outcome: 'turn_missing' }
  if (turn.replaced_by !== null) return { outcome: 'replaced', by: turn.replaced_by }
  return { runId, number: turn.run_number }
}

/** Call it before the new run is stored. Gives the replaced turns that have not ended. */
export async function replaceTurns(
  sql: Sql,
  { runId, number }: Replaced,
  by: Pick<RunRecord, 'run_id' | 'session_id' | 'created_at'>,
): Promise<string[]> {
  const rows = await sql.all<TurnColumns>(
    `${selectTurns} AND replaced_by IS NULL AND run_number >= coalesce((SELECT max(run_number) FROM run
       WHERE session_id = $1 AND parent_run_id IS NULL AND replaced_by IS NULL AND run_number < $2::bigint), $2::bigint)
     ORDER BY run_number`,
    [by.session_id, number],
  )
  const change = replacement(rows.map(toTurn), runId, by.run_id)
  if ((await findCoverage(sql, by.session_id)) !== undefined) {
    const [before] = await sql.all<{ turn_count: number }>(
      `SELECT count(*) AS turn_count FROM run
       WHERE session_id = $1 AND parent_run_id IS NULL AND replaced_by IS NULL AND run_number < $2::bigint`,
      [by.session_id, number],
    )
    change.place = before?.turn_count ?? 0
  }
  await mark(sql, by.session_id, change, by.created_at)
  return unendedOf(change.away)
}

const unendedOf = (turns: readonly StoredTurn[]) =>
  turns.filter(({ status }) => !isEnded(status)).map(({ run_id }) => run_id)

/** What `replaceTurns` gave for this run. */
export async function findSuperseded(sql: Sql, sessionId: string, runId: string): Promise<string[]> {
  const turns = await readTurnTree(sql, sessionId)
  return unendedOf(turns.filter(({ replaced_by }) => replaced_by === runId))
}

/** Lock the session after it. */
export async function lockReplacedBy(sql: Sql, runId: string): Promise<void> {
  await sql.all('SELECT 1 FROM run WHERE replaced_by = $1 ORDER BY run_number FOR UPDATE', [runId])
}

/** When the run begins: gives the session, which is locked, the state from before the turns that it replaced. */
export async function rewindState(sql: Sql, runId: string, sessionId: string): Promise<void> {
  const kept = await sql.run(
    `UPDATE run SET replaced_state = (SELECT coalesce(state, 'null') FROM session WHERE session_id = $1)
     WHERE run_number = (SELECT max(run_number) FROM run WHERE replaced_by = $2)`,
    [sessionId, runId],
  )
  if (kept === 0) return
  const [first] = await sql.all<{ state_before: string }>(
    `SELECT state_before FROM run WHERE replaced_by = $1 AND state_before IS NOT NULL ORDER BY run_number LIMIT 1`,
    [runId],
  )
  if (first !== undefined) await setState(sql, sessionId, first.state_before)
}

/** After a run ended that said nothing. */
export async function bringBack(sql: Sql, runId: string, sessionId: string, at: string): Promise<void> {
  if ((await sql.all('SELECT 1 FROM run WHERE replaced_by = $1 LIMIT 1', [runId])).length === 0) return
  const change = await lockChange(sql, sessionId, (turns) => withdrawal(turns, runId))
  if (change !== undefined) await move(sql, sessionId, change, at)
}

export async function restoreTurn(sql: Sql, runId: string, at: string): Promise<TurnRestored> {
  const [run] = await sql.all<{ session_id: string }>('SELECT session_id FROM run WHERE run_id = $1', [runId])
  if (run === undefined) return { outcome: 'missing' }
  const { session_id: sessionId } = run
  let refusal: TurnRestored | undefined
  const change = await lockChange(sql, sessionId, (turns) => {
    const restored = restoration(turns, runId)
    const busy = busyTurn(turns, restored)
    // A run that is no turn can't have been replaced.
    if ((turns.find(({ run_id }) => run_id === runId)?.replaced_by ?? null) === null) refusal = { outcome: 'current' }
    else refusal = busy && { outcome: 'busy', run_id: busy.run_id }
    return restored
  })
  if (refusal !== undefined) return refusal
  await move(sql, sessionId, change, at)
  await touch(sql, sessionId, at)
  return { outcome: 'restored' }
}

/** A change of the session's turns that nobody else can come in between of: their rows and the session are locked. */
export async function lockChange<T extends TurnChange<StoredTurn> | undefined>(
  sql: Sql,
  sessionId: string,
  changeOf: (turns: readonly StoredTurn[]) => T,
): Promise<T> {
  const idsOf = (change: T) => (change?.marks ?? []).map(({ run_id }) => run_id)
  const ids = idsOf(changeOf(await readTurnTree(sql, sessionId)))
  await sql.all('SELECT 1 FROM run WHERE run_id = ANY($1::text[]) ORDER BY run_number FOR UPDATE', [ids])
  await lockSession(sql, sessionId)
  const change = changeOf(await readTurnTree(sql, sessionId))
  if (idsOf(change).some((id) => !ids.includes(id))) throw new Overtaken()
  return change
}

/** The state goes with the conversation. */
export async function move(sql: Sql, sessionId: string, change: TurnChange<StoredTurn>, at: string): Promise<void> {
  const [left, joined] = [change.away.at(-1), change.back.at(-1)]
  const [found] = joined
    ? await sql.all<{ replaced_state: string | null }>('SELECT replaced_state FROM run WHERE run_id = $1', [
        joined.run_id,
      ])
    : []
  await sql.run(
    `UPDATE run SET replaced_state = (SELECT coalesce(state, 'null') FROM session WHERE session_id = $1) WHERE run_id = $2`,
    [sessionId, left?.run_id ?? null],
  )
  await sql.run('UPDATE run SET replaced_state = NULL WHERE run_id = $1', [joined?.run_id ?? null])
  if (typeof found?.replaced_state === 'string') await setState(sql, sessionId, found.replaced_state)
  await mark(sql, sessionId, change, at)
}

async function setState(sql: Sql, sessionId: string, state: string): Promise<void> {
  await sql.run(`UPDATE session SET state = nullif($2, 'null') WHERE session_id = $1`, [sessionId, state])
}

async function mark(sql: Sql, sessionId: string, change: TurnChange<StoredTurn>, at: string): Promise<void> {
  const [first] = change.away
  const summary = first && (await findCoverage(sql, sessionId))
  if (summary !== undefined && covers(summary, change.place, first as StoredTurn)) {
    await sql.run('DELETE FROM summary WHERE session_id = $1', [sessionId])
    await sql.run(
      `INSERT INTO summary_job (session_id, scheduled_at) VALUES ($1, $2)
       ON CONFLICT (session_id) DO UPDATE SET attempts = 0`,
      [sessionId, at],
    )
  }
  await sql.run(
    `UPDATE run SET replaced_by = mark.by, follows = mark.after
     FROM unnest($1::text[], $2::text[], $3::text[]) AS mark(id, by, after) WHERE run_id = mark.id`,
    [
      change.marks.map(({ run_id }) => run_id),
      change.marks.map(({ replaced_by }) => replaced_by),
      change.marks.map(({ follows }) => follows),
    ],
  )
}

/** What the summary of the session covers, if it has one. */
async function findCoverage(sql: Sql, sessionId: string): Promise<Parameters<typeof covers>[0] | undefined> {
  const [row] = await sql.all<Parameters<typeof covers>[0]>(
    'SELECT run_count, created_at FROM summary WHERE session_id = $1',
    [sessionId],
  )
  return row
}
