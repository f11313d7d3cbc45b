import { refuseGiven } from '../../../../core/refusal.ts'
import { isEnded, type RunGiven, type RunStatus } from '../../../../core/run.ts'
import { refuseWaiting } from '../../../../core/waiting.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { filesOfInput, refusedBatch, refusedInput } from '../../rows/refused.ts'
import { fromJson, type MessageRow } from '../../rows/rows.ts'
import { deleteInputFiles } from '../files/delete.ts'
import { renewWords } from './words.ts'

const batchesAtOnce = 16

const withChildren = `WITH RECURSIVE refused(id) AS (
    SELECT unnest($1::text[]) COLLATE "C" UNION SELECT run_id FROM refused JOIN run ON parent_run_id = refused.id)`

const lockRefused = `${withChildren}
  SELECT run_id, run_number, status, input, last_batch, given, ended FROM run
  WHERE run_id = ANY(ARRAY(SELECT id FROM refused)) ORDER BY run_number FOR UPDATE`

interface RefusedRow {
  run_id: string
  run_number: number
  status: RunStatus
  input: string
  last_batch: string | null
  given: string | null
  ended: string | null
}

/** Call it before the row of a session is locked. */
export async function lockRefusedRuns(sql: Sql, runIds: readonly string[]): Promise<void> {
  await sql.all(lockRefused, [runIds])
}

/**
 * Removes the input of these runs and their child runs from messages, events and cached answers, with what the caller gave.
 * Afterwards contents may be in no file.
 */
export async function refuseRuns(sql: Sql, runIds: readonly string[]): Promise<void> {
  const rows = await sql.all<RefusedRow>(lockRefused, [runIds])
  for (const row of rows) await refuse(sql, row)
  const ids = rows.map(({ run_id }) => run_id)
  await sql.run('DELETE FROM cached_answer WHERE run_id = ANY($1::text[])', [ids])
  await renewWords(
    sql,
    rows.map(({ run_number }) => run_number),
  )
}

async function refuse(sql: Sql, row: RefusedRow): Promise<void> {
  const goesOn = !isEnded(row.status) || row.status === 'input_required'
  const input = JSON.parse(row.input) as MessageRow[]
  const given = fromJson<RunGiven>(row.given)
  await deleteInputFiles(sql, row.run_id, filesOfInput(input, given))
  const kept = refuseGiven(given, goesOn)
  await sql.run(
    `UPDATE run SET input = $2, unchecked = false, last_batch = $3, given = $4, ended = $5 WHERE run_number = $1::bigint`,
    [
      row.run_number,
      JSON.stringify(refusedInput(input)),
      row.last_batch === null ? null : (refusedBatch(row.last_batch, goesOn) ?? row.last_batch),
      kept === null ? null : JSON.stringify(kept),
      refusedEnd(row.ended),
    ],
  )
  await refuseEvents(sql, row.run_number, goesOn)
}

/** What a paused run waits for repeats the input. */
function refusedEnd(text: string | null): string | null {
  const ended = fromJson<{ waiting?: Parameters<typeof refuseWaiting>[0] }>(text)
  if (ended?.waiting === undefined) return text
  return JSON.stringify({ ...ended, waiting: refuseWaiting(ended.waiting) })
}

async function refuseEvents(sql: Sql, runNumber: number, goesOn: boolean): Promise<void> {
  for (let after = -1; ; ) {
    const rows = await sql.all<{ first_seq: number; batch: string }>(
      `SELECT first_seq, batch FROM event WHERE run_number = $1::bigint AND first_seq > $2 ORDER BY first_seq LIMIT $3`,
      [runNumber, after, batchesAtOnce],
    )
    for (const row of rows) {
      after = row.first_seq
      const batch = refusedBatch(row.batch, goesOn)
      if (batch === undefined) continue
      await sql.run('UPDATE event SET batch = $3 WHERE run_number = $1::bigint AND first_seq = $2', [
        runNumber,
        after,
        batch,
      ])
    }
    if (rows.length < batchesAtOnce) return
  }
}
