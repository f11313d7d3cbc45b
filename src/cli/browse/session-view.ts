import type { Client } from '../../client/client.ts'
import { isEnded } from '../../core/run.ts'
import type { SearchWord } from '../../core/text/message-search.ts'
import { type Layout, LineCache } from './line-cache.ts'
import type { Row } from './row-list.ts'
import { type RunHead, RunReader, toHead } from './run-reader.ts'
import { type Column, endPlace, moveBack, moveOn, type Page, type Place, readPage, start } from './scroll.ts'
import { placeOfWords } from './seek-words.ts'

interface Slot {
  head: RunHead
  reader: RunReader | undefined
}

export interface SessionViewOptions {
  client: Client
  sessionId: string
  /** The message to begin with; undefined: the latest run. */
  hit?: Row['hit'] | undefined
  /** What was searched for. */
  words?: readonly SearchWord[]
  layout: Layout
  changed(): void
  /** The last error; undefined: the server answered. */
  failed(error: unknown): void
}

const runsPerPage = 100
/** How many runs are refreshed: older ones no longer change. */
const latest = 10
/** Transcripts further from the window are dropped. */
const maxTranscripts = 40
const maxReadsAtOnce = 4
const unread = { kind: 'note', text: '…', joined: false } as const

/** One session in a window. Runs load when they become visible; active runs are followed. */
export class SessionView implements Column {
  #options: SessionViewOptions
  readonly #lines: LineCache
  readonly #stop = new AbortController()
  /** Oldest first. */
  #slots: Slot[] = []
  #cursor: string | null | undefined
  #place: Place = start
  #height = 1
  /** The window stays at the end. */
  #follows: boolean
  /** The run at the top was reached by scrolling up: show its last line first. */
  #fromBelow = false
  /** The found message is not on the screen yet. */
  #seeksWords: boolean
  /** The user asked for the start, however many pages away it is. */
  #seeksStart = false
  #listing = false
  #reads = 0

  constructor(options: SessionViewOptions) {
    this.#options = options
    this.#lines = new LineCache(options.layout)
    this.#follows = options.hit === undefined
    this.#seeksWords = options.hit !== undefined
  }

  get runs(): number {
    return this.#slots.length
  }

  entries(run: number): number {
    return Math.max(1, this.#slots[run]?.reader?.shown?.length ?? 0)
  }

  lines(run: number, entry: number): readonly string[] {
    return this.#lines.get(this.#slots[run]?.reader?.shown?.entry(entry) ?? unread)
  }

  get live(): boolean {
    return this.#slots.slice(-latest).some(({ head }) => !isEnded(head.status))
  }

  get owner(): Row['owner'] {
    const head = this.#slots.at(-1)?.head
    return head === undefined ? undefined : { id: head.agentId, kind: head.kind }
  }

  get empty(): boolean {
    return this.#slots.length === 0 && this.#cursor === null
  }

  /** The visible lines. Missing runs are requested. */
  page(columns: number, height: number): Page {
    this.#lines.resize(columns)
    this.#height = height
    if (this.#follows) this.#place = endPlace(this, height)
    const page = readPage(this, this.#place, height)
    this.#readFrom(page.firstRun, page.lastRun)
    return page
  }

  scroll(lines: number): void {
    this.#seeksStart = false
    this.#seeksWords = false
    if (lines > 0) {
      this.#place = moveOn(this, this.#place, lines, this.#height)
      this.#follows ||= readPage(this, this.#place, this.#height).atEnd
      return
    }
    const from = this.#follows ? endPlace(this, this.#height) : this.#place
    const to = moveBack(this, from, -lines)
    // Stops at a run that is not loaded, since its length is unknown.
    const unreadRun = this.#slots.slice(0, from.run + 1).findLastIndex(({ reader }) => reader?.shown === undefined)
    this.#place = to.run < unreadRun ? { run: unreadRun, entry: 0, line: 0 } : to
    this.#fromBelow = true
    this.#follows = false
  }

  toStart(): void {
    this.#place = start
    this.#follows = false
    this.#fromBelow = false
    this.#seeksStart = true
    this.#seeksWords = false
  }

  toEnd(): void {
    this.#follows = true
    this.#seeksStart = false
    this.#seeksWords = false
  }

  async look(): Promise<void> {
    if (this.#listing) return
    await this.#list(async () => {
      if (this.#cursor === undefined) return this.#begin()
      const known = new Set(this.#slots.map(({ head }) => head.runId))
      let cursor: string | undefined
      const fresh: RunHead[] = []
      for (;;) {
        const { heads, next } = await this.#page(cursor, cursor === undefined ? latest : runsPerPage)
        fresh.unshift(...heads)
        if (next === null || heads.some(({ runId }) => known.has(runId))) break
        cursor = next
      }
      this.#renew(fresh, known)
    })
  }

  close(): void {
    this.#stop.abort()
    for (const { reader } of this.#slots) reader?.close()
  }

  /** Reads the first page, or as many pages as it takes to find the requested run. */
  async #begin(): Promise<void> {
    const runId = this.#options.hit?.runId
    do {
      await this.#addOlder()
      const run = this.#slots.findIndex(({ head }) => head.runId === runId)
      if (run === -1) continue
      this.#place = { run, entry: 0, line: 0 }
      this.#fromBelow = false
      return
    } while (runId !== undefined && this.#cursor !== null)
    this.#follows = true
  }

  async #addOlder(): Promise<void> {
    const { heads, next } = await this.#page(this.#cursor ?? undefined, runsPerPage)
    const older = heads.map((head) => ({ head, reader: undefined }))
    this.#slots = [...older, ...this.#slots]
    if (!this.#seeksStart) this.#place = { ...this.#place, run: this.#place.run + older.length }
    this.#cursor = next
  }

  /** Only runs newer than the newest known one are new: a page may begin before the oldest. */
  #renew(fresh: readonly RunHead[], known: ReadonlySet<string>): void {
    const newest = fresh.findLastIndex(({ runId }) => known.has(runId))
    for (const [place, head] of fresh.entries()) {
      const slot = known.has(head.runId) && this.#slots.findLast((one) => one.head.runId === head.runId)
      if (slot) slot.head = head
      else if (place > newest) this.#slots.push({ head, reader: undefined })
    }
  }

  /** Oldest first. Runs of team members are left out: they are steps of the team's run. */
  async #page(cursor: string | undefined, limit: number): Promise<{ heads: RunHead[]; next: string | null }> {
    const { client, sessionId } = this.#options
    const { runs, next_cursor: next } = await client.sessions.runs(
      sessionId,
      {},
      { limit, cursor, signal: this.#stop.signal },
    )
    return {
      heads: runs
        .filter((run) => run.parent_run_id === null)
        .map(toHead)
        .reverse(),
      next,
    }
  }

  async #list(work: () => Promise<void>): Promise<void> {
    this.#listing = true
    try {
      await work()
      this.#report(undefined)
    } catch (error) {
      this.#report(error)
    } finally {
      this.#listing = false
      if (!this.#stop.signal.aborted) this.#options.changed()
    }
  }

  #readFrom(first: number, last: number): void {
    if (first < latest && typeof this.#cursor === 'string' && !this.#listing) {
      void this.#list(async () => {
        do await this.#addOlder()
        while (this.#seeksStart && this.#cursor !== null)
      })
    }
    if (this.#seeksStart && typeof this.#cursor === 'string') return
    const from = Math.max(0, first - 1)
    const slots = this.#slots.slice(from, last + 1)
    // A run reached by scrolling up is shown from its end.
    if (this.#follows || this.#fromBelow) slots.reverse()
    for (const slot of slots) {
      slot.reader ??= new RunReader(this.#options.client, slot.head)
      const live = !isEnded(slot.head.status)
      if (slot.reader.wants(slot.head.status) && (live || this.#reads < maxReadsAtOnce)) void this.#read(slot, live)
    }
    this.#forgetBeyond(first, last)
  }

  async #read(slot: Slot, live: boolean): Promise<void> {
    const { reader } = slot
    if (reader === undefined) return
    const before = reader.shown
    this.#reads += live ? 0 : 1
    let failure: unknown
    await reader.read(this.#options.changed).catch((error: unknown) => {
      failure = error
    })
    this.#reads -= live ? 0 : 1
    if (this.#stop.signal.aborted || slot.reader !== reader) return
    this.#report(failure)
    if (failure !== undefined) return
    slot.head = { ...slot.head, status: reader.status ?? slot.head.status }
    if (before === undefined && this.#fromBelow && this.#slots[this.#place.run] === slot)
      this.#showEndOf(this.#place.run)
    if (this.#seeksWords && slot.head.runId === this.#options.hit?.runId) this.#showWords(this.#slots.indexOf(slot))
    this.#options.changed()
  }

  #showEndOf(run: number): void {
    const entry = this.entries(run) - 1
    this.#place = moveBack(this, { run, entry, line: this.lines(run, entry).length }, 1)
  }

  #showWords(run: number): void {
    this.#seeksWords = false
    const { hit, words = [] } = this.#options
    const shown = this.#slots[run]?.reader?.shown
    const isMessage = (entry: number) => (shown?.entry(entry)?.kind === 'user') === (hit?.role === 'user')
    this.#place = placeOfWords(this, run, isMessage, words, this.#height)
  }

  #report(error: unknown): void {
    if (!this.#stop.signal.aborted) this.#options.failed(error)
  }

  #forgetBeyond(first: number, last: number): void {
    const most = Math.max(1, Math.floor((maxTranscripts - (last - first)) / 2))
    this.#slots.forEach((slot, run) => {
      if (slot.reader === undefined || (run >= first - most && run <= last + most)) return
      slot.reader.close()
      slot.reader = undefined
    })
  }
}
