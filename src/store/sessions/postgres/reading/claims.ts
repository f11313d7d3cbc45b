import type { RunRecord } from '../../../../core/run.ts'
import type { ClaimRecord } from '../../../../core/run-write.ts'
import { fromJson } from '../../rows/rows.ts'
import type { Reader } from './records.ts'
import { type RecordColumns, recordColumns, toRecord } from './rows.ts'

/** What is found by a key that expires. */

const selectClaim = 'SELECT hash, run_id, answer FROM claim WHERE claim_key = $1 AND expires_at > $2'

export async function readClaim(sql: Reader, key: string, now: string): Promise<ClaimRecord | undefined> {
  const [row] = await sql.all<{ hash: string; run_id: string | null; answer: string | null }>(selectClaim, [key, now])
  return row && { key, hash: row.hash, run_id: row.run_id, answer: fromJson(row.answer) }
}

const selectAnswer = `SELECT ${recordColumns} FROM run WHERE status = 'completed'
  AND run_id = (SELECT run_id FROM cached_answer WHERE answer_key = $1 AND expires_at > $2)`

export async function findCached(sql: Reader, key: string, now: string): Promise<RunRecord | undefined> {
  const [row] = await sql.all<RecordColumns>(selectAnswer, [key, now])
  return row && toRecord(row)
}
