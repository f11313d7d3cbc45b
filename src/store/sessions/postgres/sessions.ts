import type { SessionStore } from '../../../core/store.ts'
import { pause } from '../../../runtime/abort.ts'
import type { Database } from './database.ts'
import { deleteSessions, deleteTries } from './deletion.ts'
import { eraseUser } from './erase-user.ts'
import { deleteContents } from './files/files.ts'
import { pruneSessions } from './prune.ts'
import { restoreCopy } from './restore-copy.ts'
import * as rows from './session-rows.ts'
import type { Writing } from './writing/writing.ts'

type Sessions = Pick<
  SessionStore,
  | 'createSession'
  | 'updateSession'
  | 'shareSession'
  | 'unshareSession'
  | 'deleteSession'
  | 'prune'
  | 'deleteTries'
  | 'eraseUser'
  | 'restoreSession'
>

/** Between looks whether another process has done its part. */
const busyMs = 100

/** The writes of sessions, off the path of runs. */
export function sessions(database: Database, certain: Writing['certain'], onKey: () => void): Sessions {
  const { work, owners, now } = database

  async function deleted(count: number): Promise<number> {
    if (count > 0) await deleteContents(database)
    return count
  }
  const deleting = async (remove: Parameters<typeof work<number>>[0]) => deleted(await work(remove, 'bulk'))

  /** Nothing would mean that nothing is due: it waits while another process deletes. */
  async function prune(...[rule, limit]: Parameters<SessionStore['prune']>): Promise<number> {
    for (;;) {
      const count = await work((sql) => pruneSessions(sql, rule, limit), 'bulk')
      if (count !== 'busy') return deleted(count)
      await pause(busyMs)
    }
  }

  return {
    async createSession(seed, claim) {
      const made = await certain((again) =>
        work(async (sql) => {
          const mine = again ? await rows.findCreated(sql, seed) : undefined
          return mine ?? rows.createSession(sql, seed, claim, owners.atWork, now())
        }),
      )
      if (claim) onKey()
      return made
    },
    updateSession: (sessionId, change, at, revision) =>
      certain((again) =>
        work(async (sql) => {
          const mine = again ? await rows.findUpdated(sql, sessionId, at, revision) : undefined
          return mine ?? rows.updateSession(sql, sessionId, change, at, revision)
        }),
      ),
    shareSession: (sessionId, given, at) => work((sql) => rows.shareSession(sql, sessionId, given, at)),
    unshareSession: (sessionId, kind, ownerId, at) =>
      work((sql) => rows.unshareSession(sql, sessionId, kind, ownerId, at)),
    deleteSession: async (sessionId) => (await deleting((sql) => deleteSessions(sql, [sessionId]))) > 0,
    prune,
    deleteTries: async (before, limit) => (limit < 1 ? 0 : deleting((sql) => deleteTries(sql, before, limit))),
    eraseUser: (userId, limit) => deleting((sql) => eraseUser(sql, userId, limit)),
    async restoreSession(copy, head = () => copy, instead?: string) {
      const made = await restoreCopy(database, copy, head, instead)
      if (instead !== undefined) await deleteContents(database)
      return made
    },
  }
}
