import type { Connection } from '../../../sqlite/connection.ts'
import type { HiddenSessions } from '../schema/hidden.ts'
import type { KnownRows } from '../writing/known-rows.ts'
import type { Removal } from './removal.ts'
import { removedAtOnce } from './remove.ts'

/** The result of a deletion: no reader sees these sessions any more. */
export interface GoneSessions {
  sessionIds: readonly string[]
  count: number
  /** The numbers of the runs that are deleted already; the rest is deleted in steps. */
  runs: number[]
  /** Sessions that still have rows. */
  left: string[]
}

interface Options {
  hidden: HiddenSessions
  known: KnownRows
  removal: Removal
  work: <T>(work: (writer: Connection) => Promise<T>, characters?: number) => Promise<T>
}

/** Hides the sessions in the commit of `remove`; their remaining rows are removed later. */
export async function removeSessions(
  { hidden, known, removal, work }: Options,
  remove: (writer: Connection) => Promise<GoneSessions>,
): Promise<GoneSessions> {
  let hiding: string[] = []
  try {
    const gone = await work(async (writer) => {
      const { left, sessionIds, ...rest } = await remove(writer)
      hiding = left
      // Before the next batch, which may create a session of the same id.
      for (const id of left) hidden.add(id)
      for (const id of sessionIds) known.forgetSession(id)
      return { left, sessionIds, ...rest }
    }, removedAtOnce)
    removal.add(gone.left)
    return gone
  } catch (error) {
    for (const id of hiding) hidden.delete(id)
    throw error
  }
}
