import { createId } from '../../../../core/id.ts'
import type { RunStatus } from '../../../../core/run.ts'
import type { KeptTry, TryKept } from '../../../../core/run-write.ts'
import { usageOf } from '../../../rules/session-usage.ts'
import { keeping, tryGone, whyNotKept } from '../../../rules/turns.ts'
import type { Connection, SqlRow } from '../../../sqlite/connection.ts'
import { type All, readRecord } from '../reading/records.ts'
import { findStateBefore, readTurnTree, toTurn } from '../reading/turn-tree.ts'
import { hide } from '../schema/hidden.ts'
import { touch } from './single-write.ts'
import { move } from './turns.ts'
import { addUsage } from './usage.ts'

const selectTry = `SELECT run_session_id, parent_run_id, begun ->> '$.again_of.keep' AS keep, replaced_state,
    run_id, status, begun ->> 'created_at' AS created_at, replaced_by, follows, output IS NULL AS is_silent
  FROM runs CROSS JOIN sessions ON session_id = run_session_id WHERE run_id = ?`

/** Children are stored after their parents. */
const selectTree = `WITH RECURSIVE tree(number, id) AS (
    SELECT run_number, run_id FROM runs WHERE run_id = ?
    UNION ALL SELECT run_number, run_id FROM tree CROSS JOIN runs ON parent_run_id = id)
  SELECT number FROM tree ORDER BY number`

/** `numbers`: those that its runs had before. */
export async function keepTry(
  writer: Connection,
  { run_id: runId, turn, at }: KeptTry,
): Promise<{ kept: TryKept; numbers: number[] }> {
  const all: All = (...query) => writer.all(...query)
  const [row] = await all(selectTry, [runId])
  const refused = whyNotKept(row && lookOf(row))
  if (row === undefined || refused !== undefined) return { kept: refused ?? { outcome: 'missing' }, numbers: [] }
  const sessionId = row.run_session_id as string
  const decided = keeping(await readTurnTree(all, sessionId), toTurn(row), turn)
  if ('outcome' in decided) return { kept: decided, numbers: [] }
  const before = JSON.stringify((await findStateBefore(all, { run_id: turn, session_id: sessionId })) ?? null)
  const numbers = await storeLast(writer, runId)
  const [own, ...children] = numbers.map(({ number }) => number)
  await writer.run(
    `UPDATE runs SET begun = json_remove(begun, '$.again_of') WHERE run_number IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(children)],
  )
  const { replaced_by, follows } = decided.own
  await writer.run(
    `UPDATE runs SET parent_run_id = NULL, begun = json_set(begun, '$.again_of.keep', 'replace'), replaced_by = ?1, follows = ?2,
       state_before = ?3, replaced_state = ifnull(replaced_state, ?3) WHERE run_number = ?4`,
    [replaced_by, follows, before, own ?? null],
  )
  await move(writer, sessionId, decided.change, at)
  const record = await readRecord(all, runId)
  if (record !== undefined) await addUsage(writer, sessionId, usageOf(record))
  await writer.run('UPDATE sessions SET run_count = run_count + 1 WHERE session_id = ?', [sessionId])
  await touch(writer, sessionId, at)
  return { kept: { outcome: 'kept' }, numbers: numbers.map(({ before }) => before) }
}

/** Moves a run with its child runs behind all others. */
async function storeLast(writer: Connection, runId: string): Promise<{ before: number; number: number }[]> {
  const [last] = await writer.all('SELECT max(run_number) AS number FROM runs')
  const tree = await writer.all(selectTree, [runId])
  const moved = tree.map((row, place) => ({
    before: row.number as number,
    number: ((last?.number ?? 0) as number) + 1 + place,
  }))
  const pairs = JSON.stringify(moved.map(({ before, number }) => [before, number]))
  for (const [table, column] of [
    ['events', 'event_run_number'],
    ['runs', 'run_number'],
  ])
    await writer.run(`UPDATE ${table} SET ${column} = value ->> 1 FROM json_each(?) WHERE ${column} = value ->> 0`, [
      pairs,
    ])
  return moved
}

/**
 * Hides an ended try with its child runs in a session of their own, which is removed in steps. Gives that session and the state
 * that the try left, if it changed any. Throws `conflict` when it is no ended try (any more).
 */
export async function hideTry(writer: Connection, runId: string): Promise<{ hidden: string; state: string | null }> {
  const [row] = await writer.all(selectTry, [runId])
  if (row === undefined || whyNotKept(lookOf(row)) !== undefined) {
    throw tryGone(runId)
  }
  const hidden = createId('ses')
  const tree = await writer.all(selectTree, [runId])
  await writer.run('UPDATE runs SET run_session_id = ? WHERE run_number IN (SELECT value FROM json_each(?))', [
    hidden,
    JSON.stringify(tree.map(({ number }) => number)),
  ])
  await hide(writer, [hidden])
  return { hidden, state: row.replaced_state as string | null }
}

function lookOf({ keep, parent_run_id: parent, status }: SqlRow) {
  return { isTry: keep === 'no', isChild: parent !== '', status: status as RunStatus }
}
