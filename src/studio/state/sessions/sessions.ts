import { batch, computed, signal } from '@preact/signals'
import type { PageClient } from '../../../client/page.ts'
import type { EntityKind } from '../../../core/run.ts'
import type { SessionHead } from '../../../wire/session.ts'
import type { Filter } from '../address/address.ts'
import { messageOf } from '../server/message-of.ts'
import { placeIn, type SessionPage, SessionPages, type SessionRow } from './session-pages.ts'
import { endOf, pageSize, type Reading, SessionReads } from './session-reads.ts'

/** Those that are farther from what is looked at are read again when they are scrolled to. */
const keptPages = 20
/** A page is read when it is so many rows away. */
const ahead = 20
const recountMs = 1_000
const mostNewer = 1_000

/** The rows from `first` to before `last` are looked at. */
export interface Seen {
  first: number
  last: number
  /** Nothing is scrolled. */
  isAtTop: boolean
  /** The row that has the focus. */
  id?: string | undefined
}
const nothingSeen: Seen = { first: 0, last: 0, isAtTop: true }

/** The sessions in the order of their last change, read page by page as they are scrolled to, and kept up to date. */
export class SessionList {
  /** Grows when rows come, go or move. What one row shows is in its own signal. */
  readonly order = signal(0)
  /** All that the filter matches, not only those that are read. Undefined until it is known. */
  readonly total = signal<number | undefined>(undefined)
  readonly state = signal<'loading' | 'ready' | 'failed'>('loading')
  readonly error = signal('')
  /** How many have changed since the list was scrolled, and wait above it; at most 1,000 are counted. */
  readonly newer = signal(0)
  /** How often somebody went back to the newest. */
  readonly returns = signal(0)
  /** The sessions that are kept. */
  readonly rows = computed<readonly SessionHead[]>(() => {
    this.order.value
    return this.#pages.rows.map(({ head }) => head.value)
  })
  readonly #reads: SessionReads
  readonly #pages = new SessionPages()
  #filter: Filter = {}
  #seen = nothingSeen
  readonly #newer = new Set<string>()
  /** The place of the first row when the list was scrolled away from it. */
  #top = ''
  #recount: ReturnType<typeof setTimeout> | undefined
  #failed: Reading | undefined

  constructor(client: PageClient, kindOf: (agentId: string) => EntityKind = () => 'agent') {
    this.#reads = new SessionReads(client, kindOf)
  }

  close(): void {
    this.#reads.cancel()
    clearTimeout(this.#recount)
  }

  /** Those whose place is known, and some more while there are more. */
  get length(): number {
    const known = this.#pages.length
    if (this.isWhole) return known
    return known + Math.max(1, Math.min(pageSize, (this.total.value ?? Number.POSITIVE_INFINITY) - known))
  }

  /** Whether the last row of `length` is the last of all. */
  get isWhole(): boolean {
    return this.#pages.next === null
  }

  /** Undefined: it is being read, or is none. */
  at(place: number): SessionRow | undefined {
    return this.#pages.at(place)
  }

  /** -1: it is not among those that are kept. */
  placeOf(id: string): number {
    return this.#pages.placeOf(id)
  }

  show(filter: Filter): void {
    const isSame = JSON.stringify(filter) === JSON.stringify(this.#filter)
    if (isSame && (this.state.value === 'ready' || this.#reads.isBusy)) return
    this.#filter = filter
    if (!isSame) {
      this.#pages.start([], null)
      this.#seen = nothingSeen
      this.total.value = undefined
      this.#newer.clear()
      this.#changedOrder()
    }
    this.#readNewest()
  }

  /** What came meanwhile was missed. What is there stays until the answer is. */
  read(): void {
    if (this.#seen.isAtTop || this.state.value !== 'ready') {
      this.#readNewest()
      return
    }
    const inView = this.#pages.between(this.#seen.first, this.#seen.last)
    this.#pages.keep(inView)
    for (const page of inView) this.#readPage(page)
    this.#changedOrder()
    this.#count(pageSize)
  }

  /** Back to the newest, with all that waits above. */
  toNewest(): void {
    this.#seen = nothingSeen
    this.returns.value++
    this.#readNewest()
  }

  /** What failed, once more. */
  again(): void {
    if (this.#failed === 'newest') this.#readNewest()
    else {
      this.state.value = 'ready'
      this.#readSeen()
    }
  }

  looksAt(seen: Seen): void {
    const wasAtTop = this.#seen.isAtTop
    this.#seen = seen
    if (wasAtTop && !seen.isAtTop) this.#top = this.#pages.at(0)?.place ?? ''
    if (seen.isAtTop && !wasAtTop && this.#newer.size > 0) this.#readNewest()
    else this.#readSeen()
  }

  #readSeen(): void {
    if (this.state.value !== 'ready') return
    const { first, last } = this.#seen
    const inView = this.#pages.between(first - ahead, last + ahead)
    this.#reads.cancel((what) => typeof what === 'string' || inView.includes(what))
    for (const page of inView) if (page.rows === undefined && !this.#reads.has(page)) this.#readPage(page)
    if (this.#pages.next !== null && last + ahead >= this.#pages.length) this.#readNext(this.#pages.next)
  }

  #readNewest(): void {
    this.#reads.cancel()
    if (this.#pages.first === undefined) this.state.value = 'loading'
    this.#read('newest', undefined, (heads, next) => {
      this.#pages.start(heads, next)
      this.#newer.clear()
      for (const head of this.#reads.meanwhile) this.#changedOne(head)
    })
  }

  #readNext(cursor: string): void {
    if (this.#reads.has('next') || this.#reads.has('newest')) return
    this.#read('next', cursor, (heads, next) => {
      if (this.#pages.next === cursor) this.#pages.add(cursor, heads, next)
    })
  }

  #readPage(page: SessionPage): void {
    this.#read(page, page.cursor, (heads, next) => {
      this.#pages.put(page, heads, next)
      for (const { session_id } of heads) this.#newer.delete(session_id)
    })
  }

  #read(
    what: Reading,
    cursor: string | undefined,
    take: (heads: readonly SessionHead[], next: string | null) => void,
  ): void {
    this.#reads.read(
      what,
      { filter: this.#filter, cursor },
      ({ total, next_cursor }, heads) =>
        batch(() => {
          this.state.value = 'ready'
          if (total !== undefined) this.total.value = total
          take(heads, next_cursor)
          this.#pages.forget(keptPages, this.#seen)
          this.#changedOrder()
        }),
      (error) => {
        this.#failed = what
        this.state.value = 'failed'
        this.error.value = messageOf(error)
      },
    )
  }

  /** The heads as they are now: at the top, unless the list is scrolled: then what is looked at keeps its place. */
  changed(heads: readonly SessionHead[]): void {
    batch(() => {
      if (heads.filter((head) => this.#changedOne(head)).length > 0) this.#changedOrder()
    })
  }

  /** Whether rows have come, gone or moved. */
  #changedOne(head: SessionHead): boolean {
    const { session_id: id } = head
    this.#reads.note(id, head)
    const row = this.#pages.find(id)
    if (!isNews(head, row)) return false
    const matches = this.#matches(head)
    // Of a list that is kept whole, one that is not in it and need not be changes nothing.
    if (matches ? row === undefined : row !== undefined || this.#pages.rows.length !== this.total.value) {
      this.#countSoon()
    }
    if (!matches) return this.#remove(id)
    // A head names the agent of the last turn, the list has those of all owners: only the server knows.
    if (row === undefined && this.#filter.agent !== undefined) return false
    const isPlaced = this.#place(head, row)
    // The answer to the recount comes later than the row.
    if (isPlaced && this.isWhole && this.total.value !== undefined) {
      this.total.value = Math.max(this.total.value, this.#pages.length)
    }
    return isPlaced
  }

  #place(head: SessionHead, row: SessionRow | undefined): boolean {
    if (row !== undefined) row.head.value = head
    if (row?.place === placeIn(head)) return false
    if (this.#seen.isAtTop) {
      if (this.#pages.first === undefined && this.state.value !== 'ready') return false
      this.#pages.move(head)
      return true
    }
    if (placeIn(head) > this.#top && this.#newer.size < mostNewer) this.#newer.add(head.session_id)
    this.newer.value = this.#newer.size
    return false
  }

  deleted(sessionIds: ReadonlySet<string>): void {
    batch(() => {
      let gone = false
      for (const id of sessionIds) {
        this.#reads.note(id, undefined)
        if (this.#remove(id)) gone = true
        else this.#countSoon()
      }
      if (gone) this.#changedOrder()
    })
  }

  #remove(id: string): boolean {
    this.#newer.delete(id)
    this.newer.value = this.#newer.size
    const wasThere = this.#pages.remove(id)
    if (wasThere && this.total.value !== undefined) this.total.value--
    return wasThere
  }

  #changedOrder(): void {
    this.newer.value = this.#newer.size
    this.order.value++
  }

  /** What happens to sessions that are not in the list can only be asked for. */
  #countSoon(): void {
    this.#recount ??= setTimeout(() => this.#count(this.#filter.agent === undefined ? 1 : pageSize), recountMs)
  }

  #count(limit: number): void {
    clearTimeout(this.#recount)
    this.#recount = undefined
    this.#reads.read(
      'count',
      { filter: this.#filter, limit },
      ({ total }, heads) =>
        batch(() => {
          if (total !== undefined) this.total.value = total
          const found = heads.map((head) => ({ head, row: this.#pages.find(head.session_id) }))
          const placed = found.filter(({ head, row }) => isNews(head, row) && this.#place(head, row))
          if (placed.length > 0) this.#changedOrder()
        }),
      () => {
        // The next change counts again; the bar at the top says when the server can't be reached.
      },
    )
  }

  /** Whether the filter takes it, but for its owners. */
  #matches({ status, updated_at }: SessionHead): boolean {
    const { status: wanted, before } = this.#filter
    return (wanted === undefined || status === wanted) && (before === undefined || updated_at < endOf(before))
  }
}

function isNews(head: SessionHead, row: SessionRow | undefined): boolean {
  return row === undefined || head.updated_at >= row.head.value.updated_at
}
