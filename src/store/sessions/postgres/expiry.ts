import type { Sql } from '../../postgres/connection.ts'
import { Expiry } from '../../rules/expiry.ts'
import type { Database } from './database.ts'
import { sweepLeftFiles } from './files/delete.ts'
import { deleteContents } from './files/files.ts'

const expiredPerStep = 1_000

const deleteFrom = (table: string, key: string) => `DELETE FROM ${table} WHERE ${key} = ANY (ARRAY(
  SELECT ${key} FROM ${table} WHERE expires_at <= $1 LIMIT ${expiredPerStep} FOR UPDATE SKIP LOCKED))`
const deleteClaims = deleteFrom('claim', 'claim_key')
const deleteAnswers = deleteFrom('cached_answer', 'answer_key')

/** Deletes some expired idempotency keys and cached answers. True: there may be more. */
async function deleteExpired(sql: Sql, now: string): Promise<boolean> {
  const counts = [await sql.run(deleteClaims, [now]), await sql.run(deleteAnswers, [now])]
  return counts.includes(expiredPerStep)
}

/** Deletes what has expired, and files that nobody can use any more. */
export async function tidy(database: Pick<Database, 'work' | 'now' | 'logger'>): Promise<void> {
  const { work, now } = database
  while (await work((sql) => deleteExpired(sql, now()), 'bulk'));
  while (await work(sweepLeftFiles, 'bulk'));
  await deleteContents(database)
}

/** Call the result with each new key: every thousandth, and the first after an hour, tidies up in the background. */
export function tidyWhenDue(database: Database): () => void {
  const expiry = new Expiry(() => Date.parse(database.now()))
  return () => {
    if (!expiry.isDue()) return
    void tidy(database).catch((error: unknown) =>
      database.logger.warn({ error }, 'expired entries could not be deleted'),
    )
  }
}
