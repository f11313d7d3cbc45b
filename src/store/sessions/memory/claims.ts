import type { Json } from '../../../core/json.ts'
import type { Claim, ClaimRecord } from '../../../core/run-write.ts'
import { timestamp } from '../../../core/time.ts'
import { copy, type MemoryState } from './rows.ts'

export function readClaim(state: MemoryState, key: string, now: string): ClaimRecord | undefined {
  const row = state.claims.get(key)
  if (row === undefined || row.expires_at <= now) return undefined
  return { key: row.key, hash: row.hash, run_id: row.run_id, answer: copy(row.answer) }
}

export function insertClaim(state: MemoryState, claim: Claim, outcome: { run_id?: string; answer?: Json } = {}): void {
  const { key, hash, expires_at } = claim
  if (state.expiry.isDue()) expireClaims(state, timestamp(state.clock()))
  state.claims.set(key, { key, hash, expires_at, run_id: null, answer: null, ...outcome })
}

export function expireClaims(state: MemoryState, now: string): void {
  for (const [key, row] of state.claims) if (row.expires_at <= now) state.claims.delete(key)
}

/** Releases keys that an earlier process left without a run or an answer. */
export function releaseClaims(state: MemoryState, isLeft: (key: string) => boolean): void {
  for (const [key, { run_id, answer }] of state.claims) {
    if (run_id === null && answer === null && isLeft(key)) state.claims.delete(key)
  }
}
