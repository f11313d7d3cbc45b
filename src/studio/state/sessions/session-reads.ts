import type { PageClient } from '../../../client/page.ts'
import type { EntityKind, RunStatus } from '../../../core/run.ts'
import type { SessionHead, SessionHeadList } from '../../../wire/session.ts'
import type { Filter } from '../address/address.ts'
import type { SessionPage } from './session-pages.ts'

/** The sessions that one request gives. */
export const pageSize = 50

/** A page that was read before, the first one, the one after the last, or the number of all. */
export type Reading = SessionPage | 'newest' | 'next' | 'count'

interface Asked {
  filter: Filter
  cursor?: string | undefined
  limit?: number
}

/** The requests for pages. An answer may be older than what came by the live stream while it was on its way. */
export class SessionReads {
  readonly #client: PageClient
  readonly #kindOf: (agentId: string) => EntityKind
  readonly #open = new Map<Reading, AbortController>()
  /** What changed while something is being read. Undefined: deleted. */
  readonly #meanwhile = new Map<string, SessionHead | undefined>()

  constructor(client: PageClient, kindOf: (agentId: string) => EntityKind) {
    this.#client = client
    this.#kindOf = kindOf
  }

  has(what: Reading): boolean {
    return this.#open.has(what)
  }

  get isBusy(): boolean {
    return this.#open.size > 0
  }

  /** Those that changed while something is being read. */
  get meanwhile(): SessionHead[] {
    return [...this.#meanwhile.values()].filter((head) => head !== undefined)
  }

  note(id: string, head: SessionHead | undefined): void {
    if (this.isBusy) this.#meanwhile.set(id, head)
  }

  cancel(isWanted: (what: Reading) => boolean = () => false): void {
    for (const [what, reading] of this.#open) {
      if (isWanted(what)) continue
      reading.abort()
      this.#open.delete(what)
    }
    this.#settle()
  }

  #settle(): void {
    if (!this.isBusy) this.#meanwhile.clear()
  }

  /** Hands over what is still so: heads that have changed or gone meanwhile are left out. */
  read(
    what: Reading,
    { filter: { agent, status, before }, cursor, limit = pageSize }: Asked,
    took: (answer: SessionHeadList, heads: readonly SessionHead[]) => void,
    failed: (error: unknown) => void,
  ): void {
    this.#open.get(what)?.abort()
    const reading = new AbortController()
    this.#open.set(what, reading)
    const whenAsked = (take: () => void) => {
      if (this.#open.get(what) !== reading) return
      this.#open.delete(what)
      take()
      this.#settle()
    }
    const { signal } = reading
    const asked = {
      view: 'head' as const,
      total: cursor === undefined,
      ...(agent !== undefined && { [`${this.#kindOf(agent)}_id`]: agent }),
      status: status as RunStatus | undefined,
      updated_before: before === undefined ? undefined : endOf(before),
    }
    this.#client.sessions.list(asked, { limit, signal, cursor }).then(
      (answer) => whenAsked(() => took(answer, this.#present(answer.sessions))),
      (error: unknown) => whenAsked(() => failed(error)),
    )
  }

  #present(heads: readonly SessionHead[]): SessionHead[] {
    return heads.filter(({ session_id: id, updated_at }) => {
      const now = this.#meanwhile.get(id)
      return !this.#meanwhile.has(id) || (now !== undefined && now.updated_at <= updated_at)
    })
  }
}

/** The moment at which the day is over where the page is read. */
export function endOf(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + 1).toISOString()
}
