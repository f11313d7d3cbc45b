import type { Connection, SqlValue } from '../../../sqlite/connection.ts'
import { takeStep } from '../../rows/budget.ts'
import { deleteFilesOfRuns } from '../files/delete.ts'
import { recordBytes } from '../reading/queries.ts'
import { keepClaimsOf } from '../writing/claims.ts'

/** Bytes deleted per commit: few enough that other writes don't wait long. */
export const removedAtOnce = 2 * 1024 * 1024
const runsAtOnce = 200
/** Batches of a run that are deleted per commit. */
const batchesAtOnce = 256

export interface RemovedRows {
  runs: number[]
  /** None of the runs are left. */
  isDone: boolean
}

/** Deletes as many rows of these sessions' runs as fit one commit. */
export function removeSome(writer: Connection, sessionIds: readonly string[]): Promise<RemovedRows> {
  const from = 'FROM runs WHERE run_session_id IN (SELECT value FROM json_each(?1)) ORDER BY run_number'
  return removeFound(writer, from, [JSON.stringify(sessionIds)])
}

/** The same for other runs. `from`: SQL that names them in order, with numbered parameters. */
export async function removeFound(writer: Connection, from: string, params: readonly SqlValue[]): Promise<RemovedRows> {
  const lookAt = (limit: number) => lookInto(writer, from, params, limit)
  const [next] = await lookAt(1)
  if (next === undefined) return { runs: [], isDone: true }
  // The events of a run that is larger than a step are deleted first.
  if (next.bytes > removedAtOnce && (await removeEvents(writer, next.number))) return { runs: [], isDone: false }
  const looks = await lookAt(runsAtOnce)
  const found = looks.length
  const step = takeStep(looks, removedAtOnce)
  const numbers = step.map(({ number }) => number)
  const theirs = 'IN (SELECT value FROM json_each(?))'
  const list = JSON.stringify(numbers)
  await keepClaimsOf(writer, list)
  await deleteFilesOfRuns(writer, list)
  await writer.run(`DELETE FROM events WHERE event_run_number ${theirs}`, [list])
  await writer.run(`DELETE FROM runs WHERE run_number ${theirs}`, [list])
  return { runs: numbers, isDone: looks.length === 0 && found < runsAtOnce }
}

/** The first runs and their sizes. For a run with many batches, only that it is larger than a step. */
async function lookInto(writer: Connection, from: string, params: readonly SqlValue[], limit: number) {
  const rows = await writer.all(
    `SELECT run_number, ${recordBytes} + ifnull(octet_length(last_batch), 0) + ifnull((SELECT sum(size) + iif(
       count(*) = ${batchesAtOnce}, ${removedAtOnce}, 0) FROM (SELECT octet_length(batch) AS size FROM events
       WHERE event_run_number = run_number LIMIT ${batchesAtOnce})), 0) AS bytes
     ${from} LIMIT ${limit}`,
    params,
  )
  return rows.map((row) => ({ number: row.run_number as number, bytes: row.bytes as number }))
}

/** False when the run had no events. */
async function removeEvents(writer: Connection, runNumber: number): Promise<boolean> {
  const sql = `SELECT first_seq, octet_length(batch) AS bytes FROM events WHERE event_run_number = ?
    ORDER BY first_seq LIMIT ?`
  const rows = await writer.all(sql, [runNumber, batchesAtOnce])
  const step = takeStep(
    rows.map((row) => ({ seq: row.first_seq as number, bytes: row.bytes as number })),
    removedAtOnce,
  )
  const last = step.at(-1)
  if (last === undefined) return false
  await writer.run('DELETE FROM events WHERE event_run_number = ? AND first_seq <= ?', [runNumber, last.seq])
  return true
}
