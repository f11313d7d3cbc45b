import type { Database } from '../database.ts'
import { isLarge, type Outcome, type PendingWrite } from './group.ts'
import { settleAppend, settleEnd } from './settle-end.ts'
import { settleStart } from './settle-start.ts'

/** What came of a write, and what to tell after its commit. */
export interface Settled<T extends Outcome = Outcome> {
  outcome: T
  /** The runs that have recorded something. */
  recorded: readonly string[]
  /** The runs that may be next, with the keys of their owners. */
  turns: readonly [runId: string, owner: number][]
}

/** Writes alone, in a transaction that locks what it decides by. */
export async function settle(database: Database, one: PendingWrite): Promise<Settled> {
  const { write } = one
  const context = { again: one.again, isLarge: isLarge(one), turns: database.owners.own !== undefined }
  if (write.kind === 'start') {
    const { start } = write
    const key = await database.owners.keyOf(start.owner)
    const settled = { recorded: [], turns: [] }
    const now = database.now()
    return { ...settled, outcome: await database.work((sql) => settleStart(sql, start, { ...context, key, now })) }
  }
  if (write.kind === 'append') return database.work((sql) => settleAppend(sql, write.batch, context))
  return database.work((sql) => settleEnd(sql, write.end, context))
}
