import type { AuditEntry, AuditEntryList } from '../wire/audit.ts'
import type { Connection, PageOptions } from './transport/connection.ts'

/** Narrows the list of audit entries. */
export interface AuditListFilter {
  action?: AuditEntry['action'] | undefined
  /** The id of a key, `jwt:` and the user of a token, `anonymous` or `server`. */
  caller?: string | undefined
  user_id?: string | undefined
  object_id?: string | undefined
  /** `ok`, or the code of an error. */
  outcome?: string | undefined
  /** The first moment that counts (RFC 3339, UTC). */
  since?: string | undefined
  /** The first moment that no longer counts. */
  until?: string | undefined
}

/** What was done, by whom and when. Needs the scope `admin`. */
export interface AuditClient {
  /** Newest first. */
  list(filter?: AuditListFilter, options?: PageOptions): Promise<AuditEntryList>
}

export function createAuditClient(connection: Connection, prefix: string): AuditClient {
  return {
    list: (filter, options) => connection.list(`${prefix}/audit`, filter, options),
  }
}
