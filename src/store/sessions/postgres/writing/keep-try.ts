import type { AgainOf } from '../../../../core/run.ts'
import type { KeptTry, TryKept } from '../../../../core/run-write.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { usageOf } from '../../../rules/session-usage.ts'
import { keeping, type MarkedTurn, whyNotKept } from '../../../rules/turns.ts'
import { readRecord } from '../reading/records.ts'
import { findStateBefore, selectTurnRow, type TurnColumns, toTurn } from '../reading/turn-tree.ts'
import { touch } from './look.ts'
import { addUsage } from './reopen.ts'
import { lockChange, move } from './turns.ts'
import { forgetWords } from './words.ts'

export interface TryColumns extends TurnColumns {
  session_id: string
  is_try: boolean
  parent_run_id: string | null
  begun: string
  replaced_state: string | null
}

export const selectTry = `${selectTurnRow(', session_id, is_try, parent_run_id, begun, replaced_state')} WHERE run_id = $1`

/** Children are stored after their parents. */
export const lockTree = `SELECT run_id, run_number, begun FROM run WHERE run_id = ANY(ARRAY(
    WITH RECURSIVE tree(id) AS (SELECT $1::text COLLATE "C"
      UNION ALL SELECT run_id FROM tree JOIN run ON parent_run_id = tree.id)
    SELECT id FROM tree)) ORDER BY run_number FOR UPDATE`

export interface TreeRow {
  run_id: string
  run_number: number
  begun: string
}

export async function keepTry(sql: Sql, { run_id: runId, turn, at }: KeptTry): Promise<TryKept> {
  let [row] = await sql.all<TryColumns>(selectTry, [runId])
  const refused = whyNotKept(row && lookOf(row))
  if (row === undefined || refused !== undefined) return refused ?? { outcome: 'missing' }
  const { session_id: sessionId } = row
  const own = toTurn(row)
  let refusal: TryKept | undefined
  let marks: MarkedTurn | undefined
  // Runs are locked in their order, so the turns before the try.
  const change = await lockChange(sql, sessionId, (turns) => {
    const decided = keeping(turns, own, turn)
    if ('outcome' in decided) {
      refusal = decided
      return undefined
    }
    refusal = undefined
    marks = decided.own
    return decided.change
  })
  ;[row] = await sql.all<TryColumns>(selectTry, [runId])
  const since = whyNotKept(row && lookOf(row))
  if (since !== undefined) return since
  if (change === undefined || marks === undefined) return refusal ?? { outcome: 'turn_missing' }
  const before = JSON.stringify((await findStateBefore(sql, { run_id: turn, session_id: sessionId })) ?? null)
  await storeLast(sql, await sql.all<TreeRow>(lockTree, [runId]), runId)
  const { replaced_by, follows }: MarkedTurn = marks
  await sql.run(
    `UPDATE run SET parent_run_id = NULL, replaced_by = $2, follows = $3, state_before = $4,
       replaced_state = coalesce(replaced_state, $4) WHERE run_id = $1`,
    [runId, replaced_by, follows, before],
  )
  await move(sql, sessionId, change, at)
  const record = await readRecord(sql, runId)
  if (record !== undefined) await addUsage(sql, sessionId, usageOf(record))
  await sql.run('UPDATE session SET run_count = run_count + 1 WHERE session_id = $1', [sessionId])
  await touch(sql, sessionId, at)
  return { outcome: 'kept' }
}

/** Moves the try with its child runs behind all others. None of them is part of a try any more. */
async function storeLast(sql: Sql, tree: readonly TreeRow[], runId: string): Promise<void> {
  for (const { run_id: id, run_number: before, begun } of tree) {
    const { again_of: of, ...rest } = JSON.parse(begun) as { again_of?: AgainOf }
    const kept: AgainOf | undefined = id === runId && of !== undefined ? { ...of, keep: 'replace' } : undefined
    const text = JSON.stringify(kept === undefined ? rest : { ...JSON.parse(begun), again_of: kept })
    const [moved] = await sql.all<{ run_number: number }>(
      'UPDATE run SET run_number = DEFAULT, is_try = false, begun = $2 WHERE run_id = $1 RETURNING run_number',
      [id, text],
    )
    await sql.run('UPDATE event SET run_number = $2::bigint WHERE run_number = $1::bigint', [before, moved?.run_number])
  }
  await forgetWords(
    sql,
    tree.map(({ run_number }) => run_number),
  )
}

export function lookOf({ is_try: isTry, parent_run_id: parent, status }: TryColumns) {
  return { isTry, isChild: parent !== '', status }
}
