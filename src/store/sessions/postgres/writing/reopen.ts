import type { Message } from '../../../../core/message.ts'
import { isTurn, type ModelUsage, type RunRecord } from '../../../../core/run.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { usageOf } from '../../../rules/session-usage.ts'
import { usageRow } from '../../../rules/usage-rows.ts'
import { decodeBatch } from '../../rows/event-batch.ts'
import { readRecord } from '../reading/records.ts'
import { addCounts, addLargest, usageColumns, usageTypes } from './hot-statement.ts'
import { usageObject } from './rows.ts'

/**
 * Removes what the pause of a locked run wrote as its end, except its events, so that it is a waiting run until the
 * transaction says what becomes of it. Gives its messages.
 */
export async function reopen(sql: Sql, runId: string): Promise<Message[]> {
  const record = await readRecord(sql, runId)
  if (record !== undefined) await takeBackUsage(sql, record)
  const [row] = await sql.all<{ run_number: number; last_batch: string | null }>(
    'SELECT run_number, last_batch FROM run WHERE run_id = $1',
    [runId],
  )
  const [first] = typeof row?.last_batch === 'string' ? decodeBatch(runId, row.last_batch) : []
  if (first !== undefined)
    await sql.run(
      `INSERT INTO event (run_number, first_seq, batch) SELECT run_number, $2::int, last_batch FROM run WHERE run_id = $1`,
      [runId, first.seq],
    )
  await sql.run(
    `UPDATE run SET status = 'queued', ended = NULL, end_seq = NULL, output = NULL, last_batch = NULL WHERE run_id = $1`,
    [runId],
  )
  return record?.messages.filter(({ role }) => role === 'assistant') ?? []
}

const addRows = `INSERT INTO session_usage (session_id, ${usageColumns})
  SELECT * FROM json_to_recordset($1::text::json) AS x(i text, ${usageTypes})
  ON CONFLICT (session_id, model) DO UPDATE SET ${addCounts}, ${addLargest}`

/** Of a turn that was written outside of a group. */
export async function addUsage(
  sql: Sql,
  sessionId: string,
  used: readonly ModelUsage[],
  sign: 1 | -1 = 1,
): Promise<void> {
  if (used.length === 0) return
  await sql.run(addRows, [JSON.stringify(used.map((one) => usageObject(usageRow(sessionId, one, sign))))])
}

async function takeBackUsage(sql: Sql, run: RunRecord): Promise<void> {
  const used = isTurn(run) ? usageOf(run) : []
  if (used.length === 0) return
  await addUsage(sql, run.session_id, used, -1)
  await sql.run('DELETE FROM session_usage WHERE session_id = $1 AND runs <= 0', [run.session_id])
}
