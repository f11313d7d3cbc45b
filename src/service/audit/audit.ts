import type { Actor, AuditAction, AuditEntry, AuditFilter, AuditObject } from '../../core/access/audit.ts'
import { tokenCaller } from '../../core/access/token-caller.ts'
import { isAppError, toAppError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Logger } from '../../core/logger.ts'
import type { Page, PageRequest } from '../../core/page.ts'
import type { SessionStore } from '../../core/store.ts'
import { type Clock, timestamp } from '../../core/time.ts'
import type { Services } from '../services.ts'

/** What is done to what. */
export interface Act {
  action: AuditAction
  object?: AuditObject | undefined
  detail?: JsonObject | undefined
  /** It makes room, so it is done on a full disk too, where nothing can be written. */
  frees?: boolean | undefined
}

/** What became of it. */
type Settle = (outcome: string, detail?: JsonObject) => Promise<void>

export interface AuditOptions {
  store: SessionStore
  clock: Clock
  logger: Logger
  /** Of this process's life. */
  serverId: string
  /** How long entries are kept. */
  keepMs: number
}

/** Entries per transaction, so that other writes wait for no more. */
const atOnce = 500
const longestText = 256

/** For requests of which no log is written. */
export const unaudited: Pick<Services, 'audited' | 'auditedStream'> = {
  audited: (_act, work) => work(),
  auditedStream: (_act, work) => work(),
}

/** Who the server itself is in the log. */
export const serverActor: Actor = { caller: 'server', userId: undefined, requestId: undefined }

/**
 * The audit log. An act is in it, durably, before it is done, and its outcome before its answer leaves. What can't be written
 * first is not done.
 */
export class Audit {
  readonly #options: AuditOptions
  readonly #telling = new Set<Promise<void>>()

  constructor(options: AuditOptions) {
    this.#options = options
  }

  /** Does the work between its entry and the outcome. `detailOf`: what to say of a result, no contents. */
  async act<T>(actor: Actor, act: Act, work: () => Promise<T>, detailOf?: (result: T) => JsonObject): Promise<T> {
    const settle = await this.begin(actor, act)
    let result: T
    try {
      result = await work()
    } catch (error) {
      await settle(codeOf(error))
      throw error
    }
    await settle('ok', detailOf?.(result))
    return result
  }

  /** Writes the entry; the outcome comes by the function, which does not throw. */
  async begin(actor: Actor, act: Act): Promise<Settle> {
    const entry = this.#entryOf(actor, act, null)
    const { store } = this.#options
    try {
      await store.addAuditEntry(entry)
    } catch (error) {
      if (act.frees !== true || !isAppError(error) || error.code !== 'storage_full') throw error
      return (outcome, detail) =>
        this.#try(
          () => store.addAuditEntry({ ...entry, outcome, detail: plainDetail(detail) ?? entry.detail }),
          act.action,
        )
    }
    return (outcome, detail) => this.#try(() => store.settleAuditEntry(entry, outcome, plainDetail(detail)), act.action)
  }

  /** Writes an act that has been done. Nobody waits for it; `close` does. */
  tell(actor: Actor, act: Act, outcome = 'ok'): void {
    const entry = this.#entryOf(actor, act, outcome)
    this.#later(act.action, () => this.#options.store.addAuditEntry(entry))
  }

  /** The same, unless any server has told it of the caller in that time: `onTold` gets the moment. */
  tellOnceIn(forMs: number, actor: Actor, act: Act, onTold: (atMs: number) => void): void {
    const { store, clock } = this.#options
    const entry = this.#entryOf(actor, act, 'ok')
    const since = timestamp(clock() - forMs)
    this.#later(act.action, async () => {
      const filter = { action: act.action, caller: entry.caller, since }
      const [told] = (await store.listAuditEntries(filter, { limit: 1 })).items
      if (told === undefined) await store.addAuditEntry(entry)
      else onTold(Date.parse(told.at))
    })
  }

  /** The same for those that wait for it. Throws when it can't be written. */
  async told(actor: Actor, act: Act): Promise<void> {
    await this.#options.store.addAuditEntry(this.#entryOf(actor, act, 'ok'))
  }

  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> {
    const { caller, user_id, object_id } = filter
    const written = { caller: caller && plain(caller), user_id: user_id && plain(user_id) }
    return this.#options.store.listAuditEntries(
      { ...filter, ...written, object_id: object_id && plain(object_id) },
      page,
    )
  }

  /** Puts one pseudonym in place of an erased user in all earlier entries, except those of erasures. */
  async hide(userId: string): Promise<void> {
    const { store } = this.#options
    // As the entries have them.
    const user = { userId: plain(userId), caller: plain(tokenCaller(userId)) }
    const pseudonym = createId('erased')
    while ((await store.hideAuditedUser(user, pseudonym, atOnce)) > 0);
  }

  /** Deletes entries beyond their time; gives how many, at most 500. */
  expire(): Promise<number> {
    const { store, clock, keepMs } = this.#options
    return store.deleteAuditEntries(timestamp(clock() - keepMs), atOnce)
  }

  async close(): Promise<void> {
    await Promise.all(this.#telling)
  }

  #entryOf({ caller, userId, requestId }: Actor, { action, object, detail }: Act, outcome: string | null): AuditEntry {
    const { clock, serverId } = this.#options
    const now = clock()
    return {
      entry_id: createId('aud', now),
      at: timestamp(now),
      action,
      caller: plain(caller),
      user_id: userId === undefined ? null : plain(userId),
      object_kind: object?.kind ?? null,
      object_id: object === undefined ? null : plain(object.id),
      outcome,
      request_id: requestId ?? null,
      server_id: serverId,
      detail: plainDetail(detail),
    }
  }

  #later(action: AuditAction, write: () => Promise<void>): void {
    const telling = this.#try(write, action)
    this.#telling.add(telling)
    void telling.finally(() => this.#telling.delete(telling))
  }

  async #try(write: () => Promise<void>, action: AuditAction): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#options.logger.error({ error, action }, 'the audit log could not be written')
    }
  }
}

export function codeOf(error: unknown): string {
  return toAppError(error).code
}

/** As every database can hold it. Callers choose ids. */
function plain(text: string): string {
  return text.slice(0, longestText).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** With texts that every store can keep: Postgres refuses some in JSON. */
function plainDetail(detail: JsonObject | undefined): JsonObject | null {
  if (detail === undefined) return null
  return JSON.parse(JSON.stringify(detail), (_key, value) => (typeof value === 'string' ? plain(value) : value))
}
