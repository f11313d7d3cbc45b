import { type Signal, signal } from '@preact/signals'
import type { SessionHead } from '../../wire/session.ts'

/** A session in the list. What it shows may change without its place. */
export interface SessionRow {
  readonly id: string
  readonly head: Signal<SessionHead>
  /** When it had changed last when it was put here: the list is in this order, newest first. */
  listedAt: string
}

/** What one request gives. Its rows go when they are forgotten; its place in the list stays. */
export interface SessionPage {
  /** That reads it. Null: the newest. */
  readonly cursor: string | null
  rows: SessionRow[] | undefined
  /** How many it has, or had when they were forgotten. */
  count: number
  /** Where it ends: what comes later belongs to the next page. */
  last: Listed
}

interface Listed {
  id: string
  listedAt: string
}

/** Whether it stands before the other in a list with the newest first. */
export function isBefore(one: Listed, other: Listed): boolean {
  return one.listedAt > other.listedAt || (one.listedAt === other.listedAt && one.id > other.id)
}

const listedOf = ({ session_id, updated_at }: SessionHead): Listed => ({ id: session_id, listedAt: updated_at })
const byTime = (one: Listed, other: Listed): number => (isBefore(one, other) ? -1 : 1)

/**
 * The sessions that were read, in pages that follow each other. A session only ever moves to the front, so a page that is read
 * again has no more rows than before, unless some were imported: then it becomes two.
 */
export class SessionPages {
  /** After the last page. Null: there is no more. */
  next: string | null = null
  #pages: SessionPage[] = []
  readonly #pageOf = new Map<string, SessionPage>()

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
    const its = this.#pageOf.get(id)
    if (its === undefined) return -1
    let from = 0
    for (const page of this.#pages) {
      if (page === its) return from + (page.rows ?? []).findIndex((row) => row.id === id)
      from += page.count
    }
    return -1
  }

  find(id: string): SessionRow | undefined {
    return this.#pageOf.get(id)?.rows?.find((row) => row.id === id)
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
    const known = new Map(this.rows.map((row) => [row.id, row]))
    this.#pages = []
    this.#pageOf.clear()
    this.add(null, heads, next, known)
  }

  /** Puts a page at the end. */
  add(
    cursor: string | null,
    heads: readonly SessionHead[],
    next: string | null,
    known?: Map<string, SessionRow>,
  ): void {
    this.next = next
    const end = heads.at(-1)
    if (end === undefined) return
    const page: SessionPage = { cursor, rows: [], count: 0, last: listedOf(end) }
    this.#pages.push(page)
    this.#fill(page, heads, known)
  }

  /** What a page has now. `next` reads what follows these rows. */
  put(page: SessionPage, heads: readonly SessionHead[], next: string | null): void {
    const place = this.#pages.indexOf(page)
    if (place < 0) return
    const before = page.count
    const known = new Map((page.rows ?? []).map((row) => [row.id, row]))
    for (const id of known.keys()) this.#pageOf.delete(id)
    const inside = heads.filter((head) => !isBefore(page.last, listedOf(head)))
    const end = inside.at(-1)
    this.#fill(page, inside, known)
    if (end === undefined || inside.length < heads.length || next === null || !isBefore(listedOf(end), page.last))
      return
    // There is more in it than one answer holds.
    const rest = { cursor: next, rows: undefined, count: Math.max(1, before - inside.length), last: page.last }
    page.last = listedOf(end)
    this.#pages.splice(place + 1, 0, rest)
  }

  #fill(page: SessionPage, heads: readonly SessionHead[], known?: Map<string, SessionRow>): void {
    const rows: SessionRow[] = []
    for (const head of heads) {
      const other = this.find(head.session_id)
      // It has moved since: what is newer counts.
      if (other !== undefined && other.listedAt >= head.updated_at) continue
      const row = other ?? known?.get(head.session_id)
      if (other !== undefined) this.remove(other.id)
      rows.push(renew(row, head))
    }
    page.rows = rows
    page.count = rows.length
    for (const { id } of rows) this.#pageOf.set(id, page)
  }

  /** Puts it where its time belongs, unless that is not read yet, and forgets its old place. */
  move(head: SessionHead): void {
    const row = renew(this.find(head.session_id), head)
    this.remove(row.id)
    const page =
      this.#pages.find(({ last }) => !isBefore(last, row)) ?? (this.next === null ? this.#pages.at(-1) : undefined)
    if (page === undefined) {
      if (this.next === null) this.add(null, [head], null, new Map([[row.id, row]]))
      return
    }
    if (isBefore(page.last, row)) page.last = listedOf(head)
    if (page.rows !== undefined) {
      page.rows = [...page.rows, row].sort(byTime)
      this.#pageOf.set(row.id, page)
    }
    page.count++
  }

  /** Whether it was there. */
  remove(id: string): boolean {
    const page = this.#pageOf.get(id)
    if (page?.rows === undefined) return false
    page.rows = page.rows.filter((row) => row.id !== id)
    page.count = page.rows.length
    this.#pageOf.delete(id)
    return true
  }

  /** Keeps the rows of at most so many pages: those that are nearest to the places, and the one that has `id`. */
  forget(most: number, { first, last, id }: { first: number; last: number; id?: string | undefined }): void {
    const kept = this.#pages.filter(({ rows }) => rows !== undefined)
    if (kept.length <= most) return
    const seen = new Set(this.between(first, last))
    const middle = this.#pages.findIndex((page) => seen.has(page))
    const its = id === undefined ? undefined : this.#pageOf.get(id)
    const far = (page: SessionPage) =>
      page === its || seen.has(page) ? -1 : Math.abs(this.#pages.indexOf(page) - Math.max(0, middle))
    kept.sort((one, other) => far(one) - far(other))
    for (const page of kept.slice(most)) this.drop(page)
  }

  /** Forgets the rows of a page, which keeps its place. */
  drop(page: SessionPage): void {
    for (const row of page.rows ?? []) this.#pageOf.delete(row.id)
    page.rows = undefined
  }

  /** Of those that are kept. */
  get loaded(): SessionPage[] {
    return this.#pages.filter(({ rows }) => rows !== undefined)
  }
}

/** The same row, for what is shown of it not to be made again. */
function renew(row: SessionRow | undefined, head: SessionHead): SessionRow {
  if (row === undefined) return { id: head.session_id, head: signal(head), listedAt: head.updated_at }
  if (head.updated_at >= row.head.value.updated_at) row.head.value = head
  row.listedAt = head.updated_at
  return row
}
