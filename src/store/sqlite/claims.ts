import type { Json } from '../../core/json.ts'
import type { Claim, ClaimRecord } from '../../core/store.ts'
import type { Connection } from './connection.ts'

/** The record under a key unless it has expired. */
export async function readClaim(connection: Connection, key: string, now: string): Promise<ClaimRecord | undefined> {
  const sql = 'SELECT claim_hash, claim_run_id, answer FROM claims WHERE claim_key = ? AND expires_at > ?'
  const [row] = await connection.all(sql, [key, now])
  if (row === undefined) return undefined
  return {
    key,
    hash: row.claim_hash as string,
    run_id: row.claim_run_id as string | null,
    answer: row.answer === null ? null : (JSON.parse(row.answer as string) as Json),
  }
}

/** Undefined when the key is the caller's now. */
export async function takeClaim(writer: Connection, claim: Claim, now: string): Promise<ClaimRecord | undefined> {
  const taken = await readClaim(writer, claim.key, now)
  if (taken !== undefined) return taken
  const sql = 'INSERT OR REPLACE INTO claims (claim_key, claim_hash, expires_at) VALUES (?, ?, ?)'
  await writer.run(sql, [claim.key, claim.hash, claim.expires_at])
  return undefined
}

export async function settleClaim(writer: Connection, key: string, answer: Json): Promise<void> {
  await writer.run('UPDATE claims SET answer = ? WHERE claim_key = ?', [JSON.stringify(answer), key])
}

/** Forgets a key under which nothing was kept. */
export async function releaseClaim(writer: Connection, key: string): Promise<void> {
  await writer.run('DELETE FROM claims WHERE claim_key = ? AND claim_run_id IS NULL AND answer IS NULL', [key])
}

/** At most `limit`, so that nobody waits long for it; gives how many. */
export function dropExpiredClaims(writer: Connection, now: string, limit: number): Promise<number> {
  const sql = 'DELETE FROM claims WHERE claim_key IN (SELECT claim_key FROM claims WHERE expires_at <= ? LIMIT ?)'
  return writer.run(sql, [now, limit])
}
