import type { Json } from '../../../../core/json.ts'
import type { Claim, ClaimRecord } from '../../../../core/run-write.ts'
import type { SessionRecord } from '../../../../core/session.ts'
import type { Connection } from '../../../sqlite/connection.ts'

// A run's key is in the run's own row, so its commit writes one B-tree instead of three.
const selectClaim = `SELECT claim_hash, claim_run_id, answer FROM claims WHERE claim_key = ?1 AND expires_at > ?2
  UNION ALL SELECT run_claim_hash, run_id, NULL FROM runs WHERE run_claim_key = ?1 AND run_claim_expires_at > ?2`

export async function readClaim(
  connection: Pick<Connection, 'all'>,
  key: string,
  now: string,
): Promise<ClaimRecord | undefined> {
  const [row] = await connection.all(selectClaim, [key, now])
  if (row === undefined) return undefined
  return {
    key,
    hash: row.claim_hash as string,
    run_id: row.claim_run_id as string | null,
    answer: row.answer === null ? null : (JSON.parse(row.answer as string) as Json),
  }
}

/** Undefined: the caller now holds the key. */
export async function takeClaim(
  writer: Connection,
  { key, hash, expires_at }: Claim,
  now: string,
  answer?: Json,
): Promise<ClaimRecord | undefined> {
  const taken = await freeClaim(writer, key, now)
  if (taken !== undefined) return taken
  const sql = 'INSERT INTO claims (claim_key, claim_hash, expires_at, answer) VALUES (?, ?, ?, ?)'
  await writer.run(sql, [key, hash, expires_at, answer === undefined ? null : JSON.stringify(answer)])
  return undefined
}

/** The record under a key; an expired one is removed. */
export async function freeClaim(writer: Connection, key: string, now: string): Promise<ClaimRecord | undefined> {
  const taken = await readClaim(writer, key, now)
  if (taken === undefined) await dropClaim(writer, key)
  return taken
}

/** The run that has the key keeps everything else. */
export async function dropClaim(writer: Connection, key: string): Promise<void> {
  await writer.run('DELETE FROM claims WHERE claim_key = ?', [key])
  await writer.run('UPDATE runs SET run_claim_key = NULL WHERE run_claim_key = ?', [key])
}

/** Keeps the keys of runs that are being deleted; `runs`: JSON of their numbers. */
export async function keepClaimsOf(writer: Connection, runs: string): Promise<void> {
  await writer.run(
    `INSERT INTO claims (claim_key, claim_hash, expires_at, claim_run_id)
     SELECT run_claim_key, run_claim_hash, run_claim_expires_at, run_id FROM json_each(?)
       CROSS JOIN runs ON run_number = value WHERE run_claim_key IS NOT NULL`,
    [runs],
  )
}

export async function completeClaim(writer: Connection, key: string, answer: Json | SessionRecord): Promise<void> {
  await writer.run('UPDATE claims SET answer = ? WHERE claim_key = ?', [JSON.stringify(answer), key])
}

/** Releases a key under which nothing was stored. */
export async function releaseClaim(writer: Connection, key: string): Promise<void> {
  await writer.run('DELETE FROM claims WHERE claim_key = ? AND claim_run_id IS NULL AND answer IS NULL', [key])
}
