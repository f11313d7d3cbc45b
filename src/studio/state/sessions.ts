import { signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
import type { RunStatus } from '../../core/run.ts'
import type { SessionHead } from '../../wire/session.ts'
import type { Filter } from './address.ts'
import { messageOf } from './message-of.ts'

const pageSize = 50
const keptRows = 1000

/** The sessions in the order of their last change, read page by page as they are scrolled to, and kept up to date. */
export class SessionList {
  readonly rows = signal<readonly SessionHead[]>([])
  /** All that the filter matches, not only those that are read. Undefined until it is known. */
  readonly total = signal<number | undefined>(undefined)
  readonly state = signal<'loading' | 'ready' | 'failed'>('loading')
  readonly error = signal('')
  readonly #client: Client
  #filter: Filter = {}
  #cursor: string | null = null
  #reading: AbortController | undefined

  constructor(client: Client) {
    this.#client = client
  }

  get hasMore(): boolean {
    return this.#cursor !== null
  }

  show(filter: Filter): void {
    const same = filter.agent === this.#filter.agent && filter.status === this.#filter.status
    if (same && this.state.value !== 'failed' && this.rows.value.length > 0) return
    this.#filter = filter
    this.read()
  }

  /** From the newest on. What is there stays until the answer is. */
  read(): void {
    this.#reading?.abort()
    this.#reading = undefined
    this.#cursor = null
    this.#page([])
  }

  more(): void {
    if (this.#reading === undefined && this.#cursor !== null) this.#page(this.rows.value)
  }

  #page(before: readonly SessionHead[]): void {
    const reading = new AbortController()
    this.#reading = reading
    if (before.length === 0 && this.rows.value.length === 0) this.state.value = 'loading'
    this.#client.sessions
      .list(this.#asked(before.length === 0), {
        limit: pageSize,
        signal: reading.signal,
        ...(this.#cursor !== null && { cursor: this.#cursor }),
      })
      .then(
        ({ sessions, next_cursor, total }) => {
          if (this.#reading !== reading) return
          this.#reading = undefined
          const known = new Set(before.map(({ session_id }) => session_id))
          this.rows.value = [...before, ...sessions.filter(({ session_id }) => !known.has(session_id))]
          this.#cursor = this.rows.value.length < keptRows ? next_cursor : null
          if (total !== undefined) this.total.value = total
          this.state.value = 'ready'
        },
        (error: unknown) => {
          if (this.#reading !== reading) return
          this.#reading = undefined
          this.state.value = 'failed'
          this.error.value = messageOf(error)
        },
      )
  }

  #asked(total: boolean) {
    const { agent, status } = this.#filter
    return {
      view: 'head' as const,
      total,
      ...(agent !== undefined && { agent_id: agent }),
      ...(status !== undefined && { status: status as RunStatus }),
    }
  }

  /** The head as it is now: first in the list, if the filter matches. */
  changed(heads: readonly SessionHead[]): void {
    const changed = new Map(heads.map((head) => [head.session_id, head]))
    const before = this.rows.value
    const isNew = heads.filter((head) => !before.some((row) => row.session_id === head.session_id))
    const rest = before.filter(({ session_id }) => !changed.has(session_id))
    const newest = [...changed.values()].filter((head) => this.#matches(head))
    newest.sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1))
    this.rows.value = [...newest, ...rest]
    const added = isNew.filter((head) => this.#matches(head)).length
    if (this.total.value !== undefined) this.total.value += added
  }

  deleted(sessionIds: ReadonlySet<string>): void {
    const left = this.rows.value.filter(({ session_id }) => !sessionIds.has(session_id))
    const gone = this.rows.value.length - left.length
    if (gone === 0) return
    this.rows.value = left
    if (this.total.value !== undefined) this.total.value -= gone
  }

  #matches({ entity_id, status }: SessionHead): boolean {
    const { agent, status: wanted } = this.#filter
    return (agent === undefined || entity_id === agent) && (wanted === undefined || status === wanted)
  }
}
