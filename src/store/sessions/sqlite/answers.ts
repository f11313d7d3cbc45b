import type { RunRecord } from '../../../core/run.ts'
import type { CachedAnswer } from '../../../core/store.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { type All, readRecord } from './reading/records.ts'

export async function cacheAnswer(writer: Connection, { key, run_id, expires_at }: CachedAnswer): Promise<void> {
  const sql = 'INSERT OR REPLACE INTO cached_answers SELECT ?, run_id, ? FROM runs WHERE run_id = ?'
  await writer.run(sql, [key, expires_at, run_id])
}

export async function readAnswer(all: All, key: string, now: string): Promise<RunRecord | undefined> {
  const sql = 'SELECT answer_run_id FROM cached_answers WHERE answer_key = ? AND answer_expires_at > ?'
  const [answer] = await all(sql, [key, now])
  if (answer === undefined) return undefined
  const run = await readRecord(all, answer.answer_run_id as string)
  return run?.status === 'completed' ? run : undefined
}
