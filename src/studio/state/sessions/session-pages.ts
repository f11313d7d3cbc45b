import { type Signal, signal } from '@preact/signals'
import type { SessionHead } from '../../../wire/session.ts'

/** A session in the list. What it shows may change without its place. */
export interface SessionRow {
  readonly id: string
  readonly head: Signal<SessionHead>
  /** Its place when it was put here: the list has the greatest first. */
  place: string
}

/** What one request gives. Its rows go when they are forgotten; its place in the list stays. */
export interface SessionPage {
  /** That reads it. Undefined: the newest. */
  readonly cursor: string | undefined
  rows: SessionRow[] | undefined
  /** How many it has, or had when they were forgotten. */
  count: number
  /** The place where it ends: what comes later belongs to the next page. */
  last: string
}

/** The newest first, as the server has them. */
export const placeIn = ({ session_id, updated_at }: SessionHead): string => updated_at + session_id

/**
 * The sessions that were read, in pages that follow each other. A session only ever moves to the front, so a page that is read
 * again has no more rows than before, unless some were imported: then it becomes two.
 */
export class SessionPages {
  /** After the last page. Null: there is no more. */
  next: string | null = null
  #pages: SessionPage[] = []

  get length(): number {
    return this.#pages.reduce((sum, { count }) => sum + count, 0)
  }

  get first(): SessionPage | undefined {
    return this.#pages[0]
  }

  /** Those that are kept, in order. */
  get rows(): SessionRow[] {
    return this.#pages.flatMap(({ rows = [] }) => rows)
  }

  /** Undefined: its page has to be read. */
  at(place: number): SessionRow | undefined {
    let from = 0
    for (const { rows, count } of this.#pages) {
      if (place < from + count) return rows?.[place - from]
      from += count
    }
    return undefined
  }

  /** -1: it is not among those that are kept. */
  placeOf(id: string): number {
    let from = 0
    for (const { rows = [], count } of this.#pages) {
      const place = rows.findIndex((row) => row.id === id)
      if (place >= 0) return from + place
      from += count
    }
    return -1
  }

  find(id: string): SessionRow | undefined {
    return this.rows.find((row) => row.id === id)
  }

  /** The pages with rows from `first` to before `last`. */
  between(first: number, last: number): SessionPage[] {
    let from = 0
    return this.#pages.filter(({ count }) => {
      const begins = from
      from += count
      return begins < last && from > first
    })
  }

  /** Forgets all that was read before. */
  start(heads: readonly SessionHead[], next: string | null): void {
    const known = this.rows
    this.#pages = []
    this.add(undefined, heads, next, known)
  }

  /** Puts a page at the end. */
  add(cursor: string | undefined, heads: readonly SessionHead[], next: string | null, known?: SessionRow[]): void {
    this.next = next
    const end = heads.at(-1)
    if (end === undefined) return
    const page: SessionPage = { cursor, rows: [], count: 0, last: placeIn(end) }
    this.#pages.push(page)
    this.#fill(page, heads, known)
  }

  /** What a page has now. `next` reads what follows these rows. */
  put(page: SessionPage, heads: readonly SessionHead[], next: string | null): void {
    const place = this.#pages.indexOf(page)
    if (place < 0) return
    const { count, last } = page
    const inside = heads.filter((head) => placeIn(head) >= last)
    const end = inside.at(-1)
    this.#fill(page, inside, page.rows)
    if (end === undefined || inside.length < heads.length || next === null || placeIn(end) === last) return
    // There is more in it than one answer holds.
    const rest = { cursor: next, rows: undefined, count: Math.max(1, count - inside.length), last }
    page.last = placeIn(end)
    this.#pages.splice(place + 1, 0, rest)
  }

  #fill(page: SessionPage, heads: readonly SessionHead[], known: readonly SessionRow[] = []): void {
    page.rows = []
    const others = new Map(this.rows.map((row) => [row.id, row]))
    const rows: SessionRow[] = []
    for (const head of heads) {
      const { session_id: id } = head
      const other = others.get(id)
      // It has moved since: what is newer counts.
      if (other !== undefined && other.place >= placeIn(head)) continue
      if (other !== undefined) this.remove(id)
      rows.push(renew(other ?? known.find((row) => row.id === id), head))
    }
    page.rows = rows
    page.count = rows.length
  }

  /** Puts it where its time belongs, unless that is not read yet, and forgets its old place. */
  move(head: SessionHead): void {
    const row = renew(this.find(head.session_id), head)
    this.remove(row.id)
    const page =
      this.#pages.find(({ last }) => last <= row.place) ?? (this.next === null ? this.#pages.at(-1) : undefined)
    if (page === undefined) {
      if (this.next === null) this.add(undefined, [head], null, [row])
      return
    }
    if (page.last > row.place) page.last = row.place
    if (page.rows !== undefined) {
      page.rows = [...page.rows, row].sort((one, other) => (one.place > other.place ? -1 : 1))
    }
    page.count++
  }

  /** Whether it was there. */
  remove(id: string): boolean {
    const page = this.#pages.find(({ rows }) => rows?.some((row) => row.id === id))
    if (page?.rows === undefined) return false
    page.rows = page.rows.filter((row) => row.id !== id)
    page.count--
    return true
  }

  /** Keeps the rows of at most so many pages: those that are nearest to the places, and the one that has `id`. */
  forget(most: number, { first, last, id }: { first: number; last: number; id?: string | undefined }): void {
    const [seen] = this.between(first, last)
    const middle = seen === undefined ? -1 : this.#pages.indexOf(seen)
    const far = (page: SessionPage) =>
      page.rows?.some((row) => row.id === id) ? -1 : Math.abs(this.#pages.indexOf(page) - middle)
    const loaded = this.#pages.filter(({ rows }) => rows !== undefined)
    this.keep(loaded.sort((one, other) => far(one) - far(other)).slice(0, most))
  }

  /** Forgets the rows of all other pages, which keep their places. */
  keep(pages: readonly SessionPage[]): void {
    for (const page of this.#pages) if (!pages.includes(page)) page.rows = undefined
  }
}

/** The same row, for what is shown of it not to be made again. */
function renew(row: SessionRow | undefined, head: SessionHead): SessionRow {
  if (row === undefined) return { id: head.session_id, head: signal(head), place: placeIn(head) }
  if (head.updated_at >= row.head.value.updated_at) row.head.value = head
  row.place = placeIn(head)
  return row
}
