import { inArray, lte } from 'drizzle-orm'
import type { Connection } from '../../sqlite/connection.ts'
import { type Places, query } from '../../sqlite/query.ts'
import { answers, claims } from './schema/schema.ts'

interface Expired {
  now: string
  limit: number
}

const deleteClaims = query((database, { now, limit }: Places<Expired>) => {
  const expired = database.select({ key: claims.key }).from(claims).where(lte(claims.expiresAt, now)).limit(limit)
  return database.delete(claims).where(inArray(claims.key, expired))
})
const deleteAnswers = query((database, { now, limit }: Places<Expired>) => {
  const expired = database.select({ key: answers.key }).from(answers).where(lte(answers.expiresAt, now)).limit(limit)
  return database.delete(answers).where(inArray(answers.key, expired))
})

/** Deletes expired idempotency keys and cached answers, at most `limit` of each (-1: all). True: there may be more. */
export async function deleteExpired(writer: Connection, now: string, limit: number): Promise<boolean> {
  const counts = [await deleteClaims(writer, { now, limit }), await deleteAnswers(writer, { now, limit })]
  return counts.includes(limit)
}
