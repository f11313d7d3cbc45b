import { signal } from '@preact/signals'
import type { PageClient } from '../../client/page.ts'
import type { LiveEvent } from '../../wire/live.ts'
import type { SessionHead } from '../../wire/session.ts'

const status = 'input_required'
const soonMs = 1000

/** How many runs wait for a person, each the last of its session, as the list of sessions has them. */
export class Waiting {
  /** Undefined while it is not known. */
  readonly count = signal<number | undefined>(undefined)
  readonly #client: PageClient
  #known = new Set<string>()
  /** Those that wait and were not named. */
  #more = 0
  #reading: AbortController | undefined
  #soon: ReturnType<typeof setTimeout> | undefined
  /** What changed while they are read; null: deleted. */
  readonly #meanwhile = new Map<string, SessionHead | null>()

  constructor(client: PageClient) {
    this.#client = client
  }

  read(): void {
    this.close()
    const reading = new AbortController()
    this.#reading = reading
    this.#meanwhile.clear()
    this.#client.sessions.list({ view: 'head', status, total: true }, { limit: 100, signal: reading.signal }).then(
      ({ sessions, total }) => {
        if (this.#reading !== reading) return
        this.#reading = undefined
        this.#known = new Set(sessions.map(({ session_id }) => session_id))
        this.#more = Math.max(0, (total ?? 0) - sessions.length)
        this.#apply(this.#meanwhile)
      },
      () => {
        if (this.#reading !== reading) return
        this.#reading = undefined
        // No number is better than a wrong one.
        this.count.value = undefined
      },
    )
  }

  close(): void {
    clearTimeout(this.#soon)
    this.#soon = undefined
    this.#reading?.abort()
    this.#reading = undefined
  }

  receive(events: readonly LiveEvent[]): void {
    const changed = this.#reading === undefined ? new Map<string, SessionHead | null>() : this.#meanwhile
    for (const event of events) {
      if (event.type === 'session') changed.set(event.head.session_id, event.head)
      else if (event.type === 'session_deleted') changed.set(event.session_id, null)
    }
    if (this.#reading === undefined && changed.size > 0 && this.count.value !== undefined) this.#apply(changed)
  }

  #apply(changed: ReadonlyMap<string, SessionHead | null>): void {
    for (const [sessionId, head] of changed) {
      const isKnown = this.#known.has(sessionId)
      // It may be among those that were counted and not named.
      if (this.#more > 0 && !isKnown) this.#soon ??= setTimeout(() => this.read(), soonMs)
      else if (head?.status === status) this.#known.add(sessionId)
      else this.#known.delete(sessionId)
    }
    this.count.value = this.#known.size + this.#more
  }
}
