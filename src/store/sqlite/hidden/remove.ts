import { keepClaimsOf } from '../claims.ts'
import type { Connection } from '../connection.ts'
import { takeStep } from '../reading/budget.ts'
import { recordBytes } from '../selects.ts'

/** What one commit takes out: little enough that nobody waits long for it. */
const stepBytes = 2 * 1024 * 1024
const runsAtOnce = 200
const batchesAtOnce = 1_000

export interface RemovedRows {
  /** The numbers of the runs. */
  runs: number[]
  /** Nothing is left of the sessions. */
  isDone: boolean
}

/** Takes as many rows of these sessions' runs as go in one commit. */
export async function removeSome(writer: Connection, sessionIds: readonly string[]): Promise<RemovedRows> {
  const rows = await writer.all(
    `SELECT run_number, ${recordBytes} + ifnull(octet_length(last_batch), 0) + ifnull(
       (SELECT sum(octet_length(batch)) FROM events WHERE event_run_number = run_number), 0) AS bytes
     FROM runs WHERE run_session_id IN (SELECT value FROM json_each(?)) ORDER BY run_number LIMIT ?`,
    [JSON.stringify(sessionIds), runsAtOnce],
  )
  const looks = rows.map((row) => ({ number: row.run_number as number, bytes: row.bytes as number }))
  const step = takeStep(looks, stepBytes)
  const [first] = step
  if (first === undefined) return { runs: [], isDone: true }
  // A run that is larger than a step loses its events first.
  if (first.bytes > stepBytes && (await removeEvents(writer, first.number))) return { runs: [], isDone: false }
  const numbers = step.map(({ number }) => number)
  const theirs = 'IN (SELECT value FROM json_each(?))'
  const list = JSON.stringify(numbers)
  await keepClaimsOf(writer, list)
  await writer.run(`DELETE FROM events WHERE event_run_number ${theirs}`, [list])
  await writer.run(`DELETE FROM runs WHERE run_number ${theirs}`, [list])
  return { runs: numbers, isDone: looks.length === 0 && rows.length < runsAtOnce }
}

/** Gives whether it had any. */
async function removeEvents(writer: Connection, runNumber: number): Promise<boolean> {
  const sql = `SELECT first_seq, octet_length(batch) AS bytes FROM events WHERE event_run_number = ?
    ORDER BY first_seq LIMIT ?`
  const rows = await writer.all(sql, [runNumber, batchesAtOnce])
  const step = takeStep(
    rows.map((row) => ({ seq: row.first_seq as number, bytes: row.bytes as number })),
    stepBytes,
  )
  const last = step.at(-1)
  if (last === undefined) return false
  await writer.run('DELETE FROM events WHERE event_run_number = ? AND first_seq <= ?', [runNumber, last.seq])
  return true
}
