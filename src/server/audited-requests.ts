import type { Clock } from '../core/time.ts'
import type { RequestRecord } from '../http/options.ts'
import type { Audit } from '../service/audit/audit.ts'

const hourMs = 60 * 60_000
/** Between two entries of one caller who uses its key. */
const useMs = 24 * hourMs
/** Above this number the oldest is forgotten, and may be told again. */
const manyCallers = 10_000

/** What the audit log tells of requests as such: the first use of a key or token in a day, and what it may not do. */
export class AuditedRequests {
  readonly #audit: Audit
  readonly #clock: Clock
  readonly #told = new Map<string, number>()

  constructor(audit: Audit, clock: Clock) {
    this.#audit = audit
    this.#clock = clock
  }

  saw({ caller, userId, requestId, status, method, route }: RequestRecord): void {
    if (caller === 'anonymous') return
    const actor = { caller, userId, requestId }
    const use = `use ${caller}`
    if (this.#isDue(use, useMs)) {
      // Another server may have seen the use that counts.
      this.#audit.tellOnceIn(useMs, actor, { action: 'key.use' }, (atMs) => this.#told.set(use, atMs))
    }
    if (status !== 403 || route === undefined) return
    const id = `${method} ${route}`
    if (!this.#isDue(`denied ${caller} ${id}`, hourMs)) return
    this.#audit.tell(actor, { action: 'access.denied', object: { kind: 'route', id } }, 'forbidden')
  }

  /** Undefined: never told. */
  #isDue(key: string, everyMs: number): boolean {
    const now = this.#clock()
    const before = this.#told.get(key)
    if (before !== undefined && now - before < everyMs) return false
    this.#told.delete(key)
    this.#told.set(key, now)
    if (this.#told.size > manyCallers) this.#told.delete(this.#told.keys().next().value ?? '')
    return true
  }
}
