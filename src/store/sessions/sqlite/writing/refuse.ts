import { refusedData, refuseGiven } from '../../../../core/refusal.ts'
import { isEnded, type RunGiven, type RunStatus } from '../../../../core/run.ts'
import type { RunEnd, RunFinished } from '../../../../core/run-write.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { filesOfInput, refusedBatch, refusedInput } from '../../rows/refused.ts'
import { fromJson, type MessageRow } from '../../rows/rows.ts'
import { deleteInputFiles } from '../files/delete.ts'
import { writeSingly } from './single-write.ts'

const batchesAtOnce = 16

const selectRefused = `WITH RECURSIVE refused(refused_id) AS (
    SELECT value FROM json_each(?) UNION SELECT run_id FROM refused CROSS JOIN runs ON parent_run_id = refused_id)
  SELECT run_id, run_number, status, input, last_batch, given FROM refused CROSS JOIN runs ON run_id = refused_id`

const refuseWaiting = `UPDATE runs SET ended = json_set(ended, '$.waiting',
    (SELECT json_group_array(json(iif(value -> '$.data' IS NULL, value, json_set(value, '$.data', json(?)))))
      FROM json_each(ended, '$.waiting')))
  WHERE run_number = ? AND ended -> '$.waiting' IS NOT NULL`

/** Ends a run whose input was refused; returns the numbers of the runs that lost theirs. */
export async function finishRefused(
  writer: Connection,
  end: RunEnd,
  now: string,
): Promise<{ finished: RunFinished; numbers: number[] }> {
  const finished = (await writeSingly(writer, { kind: 'finish', end }, now)) as RunFinished
  return { finished, numbers: finished === 'ok' ? await refuseRuns(writer, end.refused ?? []) : [] }
}

/** Removes the input of these runs and their child runs from messages, events and cached answers, with what the caller gave. */
export async function refuseRuns(writer: Connection, runIds: readonly string[]): Promise<number[]> {
  const numbers: number[] = []
  for (const row of await writer.all(selectRefused, [JSON.stringify(runIds)])) {
    const number = row.run_number as number
    const status = row.status as RunStatus
    const goesOn = !isEnded(status) || status === 'input_required'
    const messages = JSON.parse(row.input as string) as MessageRow[]
    const given = fromJson<RunGiven>(row.given)
    await deleteInputFiles(writer, row.run_id as string, filesOfInput(messages, given))
    const batch = row.last_batch as string | null
    const last = batch === null ? null : (refusedBatch(batch, goesOn) ?? batch)
    const kept = refuseGiven(given, goesOn)
    await writer.run('UPDATE runs SET input = ?, last_batch = ?, given = ? WHERE run_number = ?', [
      JSON.stringify(refusedInput(messages)),
      last,
      kept === null ? null : JSON.stringify(kept),
      number,
    ])
    await writer.run(refuseWaiting, [JSON.stringify(refusedData), number])
    await redactEvents(writer, number, goesOn)
    await writer.run('DELETE FROM cached_answers WHERE answer_run_id = ?', [row.run_id as string])
    numbers.push(number)
  }
  return numbers
}

async function redactEvents(writer: Connection, number: number, goesOn: boolean): Promise<void> {
  const sql =
    'SELECT first_seq, batch FROM events WHERE event_run_number = ? AND first_seq > ? ORDER BY first_seq LIMIT ?'
  for (let after = -1; ; ) {
    const rows = await writer.all(sql, [number, after, batchesAtOnce])
    for (const row of rows) {
      after = row.first_seq as number
      const batch = refusedBatch(row.batch as string, goesOn)
      if (batch === undefined) continue
      await writer.run('UPDATE events SET batch = ? WHERE event_run_number = ? AND first_seq = ?', [
        batch,
        number,
        after,
      ])
    }
    if (rows.length < batchesAtOnce) return
  }
}
