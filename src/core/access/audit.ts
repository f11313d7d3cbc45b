import type { JsonObject } from '../json.ts'
import type { Page, PageRequest } from '../page.ts'

/** What the audit log tells of. */
export const auditActions = [
  'session.delete',
  'session.prune',
  'session.export',
  'session.import',
  'session.fork',
  'session.update',
  'session.reuse',
  'session.unshare',
  'run.resume',
  'run.cancel',
  'run.replace',
  'run.restore',
  'run.again',
  'run.keep',
  'facts.delete',
  'user.export',
  'user.erase',
  'backup',
  'knowledge.add',
  'knowledge.delete',
  'knowledge.reindex',
  'schedule.run',
  'schedule.pause',
  'schedule.resume',
  'push.set',
  'push.delete',
  'test.save',
  'test.run',
  'config.reload',
  'key.use',
  'key.refused',
  'access.denied',
] as const
export type AuditAction = (typeof auditActions)[number]

/** Who acts, as far as the request says. */
export interface Actor {
  /** The id of a key, `jwt:` and the user of a token, `anonymous` without keys, or `server`. */
  caller: string
  /** The user that the key or token belongs to. */
  userId: string | undefined
  requestId: string | undefined
}

export const auditObjectKinds = ['session', 'run', 'user', 'document', 'schedule', 'route', 'file', 'test'] as const

/** What is acted upon. */
export interface AuditObject {
  kind: (typeof auditObjectKinds)[number]
  id: string
}

/** One entry of the audit log, without contents. */
export interface AuditEntry {
  entry_id: string
  at: string
  action: AuditAction
  caller: string
  user_id: string | null
  object_kind: AuditObject['kind'] | null
  object_id: string | null
  /** `ok`, or the code of the error. Null: it is under way, or its server ended first. */
  outcome: string | null
  request_id: string | null
  server_id: string
  detail: JsonObject | null
}

export interface AuditFilter {
  action?: AuditAction | undefined
  caller?: string | undefined
  user_id?: string | undefined
  object_id?: string | undefined
  outcome?: string | undefined
  /** The first moment that counts. */
  since?: string | undefined
  /** The first moment that no longer counts. */
  until?: string | undefined
}

/** The names by which the log knows a user. */
export interface AuditedUser {
  userId: string
  /** As a caller with a token. */
  caller: string
}

/** The part of the session store that keeps the audit log. Entries are only added; no more than their outcome is set later, once. */
export interface AuditStore {
  addAuditEntry(entry: AuditEntry): Promise<void>
  /** Does nothing when the outcome is there, or the entry is gone. */
  settleAuditEntry(
    entry: Pick<AuditEntry, 'at' | 'entry_id'>,
    outcome: string,
    detail: JsonObject | null,
  ): Promise<void>
  /** Newest first. */
  listAuditEntries(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
  /**
   * Puts the pseudonym in place of a user, as caller, as user and as object, except in the entries of erasures. Changes at most
   * `limit` entries and gives how many.
   */
  hideAuditedUser(user: AuditedUser, pseudonym: string, limit: number): Promise<number>
  /** Deletes at most `limit` entries that are older; gives how many. */
  deleteAuditEntries(before: string, limit: number): Promise<number>
}
