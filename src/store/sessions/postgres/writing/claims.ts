import type { Json } from '../../../../core/json.ts'
import type { Claim, ClaimRecord } from '../../../../core/run-write.ts'
import type { SessionRecord } from '../../../../core/session.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { readClaim } from '../reading/claims.ts'
import { mayWrite } from '../schema/instances.ts'
import { assertMayWrite } from './look.ts'

/** Idempotency keys. `owner`: the instance at work on it; only that one may answer or release it. */

const insert = `INSERT INTO claim (claim_key, hash, expires_at, owner, answer)
  SELECT $1, $2, $3, $4::int, $6::text WHERE $4 = 0 OR EXISTS (SELECT FROM instance WHERE instance_key = $4 AND ${mayWrite})
  ON CONFLICT (claim_key) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, run_id = NULL,
    answer = excluded.answer, owner = excluded.owner
  WHERE claim.expires_at <= $5`

const selectOwn = `SELECT 1 FROM claim WHERE claim_key = $1 AND hash = $2 AND expires_at = $3 AND owner = $4
  AND run_id IS NULL AND answer IS NOT DISTINCT FROM $5`

/** Undefined: the caller now holds the key. `again`: it was asked for before, and may have been written. */
export async function takeClaim(
  sql: Sql,
  { key, hash, expires_at }: Claim,
  owner: number,
  now: string,
  again = false,
  answer?: Json,
): Promise<ClaimRecord | undefined> {
  const text = answer === undefined ? null : JSON.stringify(answer)
  if (again && (await sql.all(selectOwn, [key, hash, expires_at, owner, text])).length > 0) return undefined
  for (;;) {
    if ((await sql.run(insert, [key, hash, expires_at, owner, now, text])) > 0) return undefined
    const taken = await readClaim(sql, key, now)
    if (taken !== undefined) return taken
    // Else it was released in between.
    if (owner !== 0) await assertMayWrite(sql, owner)
  }
}

export async function completeClaim(sql: Sql, key: string, owner: number, answer: Json | SessionRecord): Promise<void> {
  await sql.run('UPDATE claim SET answer = $3 WHERE claim_key = $1 AND owner = $2', [
    key,
    owner,
    JSON.stringify(answer),
  ])
}

/** Releases a key under which nothing was stored. */
export async function releaseClaim(sql: Sql, key: string, owner: number): Promise<void> {
  await sql.run('DELETE FROM claim WHERE claim_key = $1 AND owner = $2 AND run_id IS NULL AND answer IS NULL', [
    key,
    owner,
  ])
}
