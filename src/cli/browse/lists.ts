import type { Client } from '../../client/client.ts'
import { asTyped, findWords, matches } from './find-words.ts'
import {
  addPage,
  emptyList,
  keepInSight,
  maxRows,
  move,
  type Row,
  type RowList,
  remove,
  renew,
  replace,
  wantsPage,
} from './row-list.ts'
import { type RowPage, readLastWords, readSessions, readTitle } from './rows.ts'
import { Texts } from './texts.ts'

/** How many sessions a filter reads to compare their titles; words in older ones are found by the search. */
const maxCompared = 10_000
const typingMs = 120
/** The sessions are counted with the first of so many reads of the first page. */
const readsPerCount = 10

/** The list of sessions and the list that a filter leaves of them. Both load page by page and refresh the first page. */
export class Lists {
  searched = ''
  readonly #client: Client
  readonly #changed: () => void
  readonly #failed: (error: unknown) => void
  readonly #stop = new AbortController()
  #sessions: RowList = emptyList
  /** Sessions whose titles match, then the messages that were found. */
  #found: RowList = emptyList
  #hits: RowList = emptyList
  #total: number | undefined
  #reads = 0
  #searching = new AbortController()
  #typing: NodeJS.Timeout | undefined
  #reading = false
  /** Until the list is read to its end, or another key is pressed. */
  #seeksEnd = false
  readonly #words: Texts
  readonly #titles: Texts

  constructor(client: Client, changed: () => void, failed: (error: unknown) => void) {
    this.#client = client
    this.#changed = changed
    this.#failed = failed
    const { signal } = this.#stop
    this.#words = new Texts((sessionId) => readLastWords(client, sessionId, signal), changed, signal)
    this.#titles = new Texts((sessionId) => readTitle(client, sessionId, signal), changed, signal)
  }

  async open(): Promise<void> {
    const { rows, cursor } = await this.#firstPage()
    this.#sessions = addPage(emptyList, rows, cursor)
  }

  get selected(): Row | undefined {
    const row = this.#list.rows[this.#list.selected]
    return row === undefined ? undefined : { ...row, title: this.#titleOf(row) }
  }

  /** `3 of 134`; empty for an empty list. */
  get place(): string {
    const { rows, selected, cursor } = this.#list
    if (rows.length === 0) return ''
    const total = this.searched === '' ? this.#total : undefined
    const most = total === undefined && cursor !== null ? `${rows.length}+` : Math.max(total ?? 0, rows.length)
    return `${selected + 1} of ${most}`
  }

  get loading(): boolean {
    return this.#list.rows.length === 0 && this.#list.cursor !== null
  }

  move(by: number): void {
    this.#seeksEnd = false
    this.#list = move(this.#list, by)
  }

  /** Reads what is not loaded yet. */
  toEnd(): void {
    this.move(Infinity)
    this.#seeksEnd = this.#list.cursor !== null
    void this.#readMore()
  }

  remove(sessionId: string): void {
    if (this.#total !== undefined) this.#total--
    this.#sessions = remove(this.#sessions, sessionId)
    this.#hits = remove(this.#hits, sessionId)
    this.#found = remove(this.#found, sessionId)
  }

  /** Leaves the sessions and messages with these words; empty words list all sessions. */
  filter(words: string): void {
    if (words === this.searched) return
    this.#searching.abort()
    this.#searching = new AbortController()
    this.#reading = false
    this.#seeksEnd = false
    this.searched = words
    this.#hits = emptyList
    this.#found = emptyList
    clearTimeout(this.#typing)
    if (words === '') return void this.look()
    this.#compare()
    this.#typing = setTimeout(() => void this.look().then(() => this.#readCompared()), typingMs)
  }

  /** Refreshes the first page; search results stay as they were found. */
  async look(): Promise<void> {
    if (this.searched === '') await this.#read(() => this.#firstPage(), renew)
    else if (this.#hits.cursor === undefined) await this.#readMore()
  }

  /** The rows that fit. Missing texts are requested. */
  show(shown: number): (Row & { isSelected: boolean })[] {
    this.#list = keepInSight(this.#list, shown)
    const list = this.#list
    if (list.cursor !== undefined && wantsPage(list, shown)) void this.#readMore()
    return list.rows.slice(list.top, list.top + shown).map((row, place) => {
      const isSelected = list.top + place === list.selected
      const words = row.words ?? (row.last && this.#words.get(`${row.sessionId} ${row.at}`, row.sessionId))
      return { ...row, isSelected, title: this.#titleOf(row), words }
    })
  }

  close(): void {
    clearTimeout(this.#typing)
    this.#stop.abort()
    this.#searching.abort()
  }

  /** A message that was found has only the session's id. */
  #titleOf({ sessionId, title, hit }: Row): string {
    if (hit === undefined) return title
    const listed = this.#sessions.rows.find((row) => row.sessionId === sessionId)
    return listed?.title ?? this.#titles.get(sessionId, sessionId) ?? '…'
  }

  get #list(): RowList {
    return this.searched === '' ? this.#sessions : this.#found
  }

  set #list(list: RowList) {
    if (this.searched === '') this.#sessions = list
    else this.#found = list
  }

  async #firstPage(): Promise<RowPage> {
    const page = await readSessions(this.#client, undefined, this.#signal, this.#reads++ % readsPerCount === 0)
    this.#total = page.total ?? this.#total
    return page
  }

  async #readMore(): Promise<void> {
    const { searched } = this
    do {
      const cursor = (searched === '' ? this.#sessions : this.#hits).cursor
      if (cursor === null) break
      const read = () =>
        searched === ''
          ? readSessions(this.#client, cursor, this.#signal)
          : findWords(this.#client, asTyped(searched), cursor, this.#signal)
      if (!(await this.#read(read, addPage))) return
      if (this.#seeksEnd) this.#list = move(this.#list, Infinity)
    } while (this.#seeksEnd)
    this.#seeksEnd = false
  }

  /** Sessions further down, for their titles. */
  async #readCompared(): Promise<void> {
    const { signal } = this.#searching
    while (!signal.aborted && this.#sessions.cursor && this.#sessions.rows.length < maxCompared) {
      const { cursor } = this.#sessions
      const page = await readSessions(this.#client, cursor, this.#signal).catch(() => undefined)
      if (page === undefined || signal.aborted || this.#sessions.cursor !== cursor) return
      this.#sessions = addPage(this.#sessions, page.rows, page.cursor)
      this.#compare()
      this.#changed()
    }
  }

  #compare(): void {
    const titled = this.#sessions.rows.filter((row) => matches(row, this.searched)).slice(0, maxRows)
    this.#found = { ...replace(this.#found, [...titled, ...this.#hits.rows]), cursor: this.#hits.cursor }
  }

  get #signal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, this.#searching.signal])
  }

  /** Whether a page was read. */
  async #read(read: () => Promise<RowPage>, take: typeof addPage): Promise<boolean> {
    if (this.#reading) return false
    this.#reading = true
    const { signal } = this.#searching
    try {
      const { rows, cursor } = await read()
      if (signal.aborted) return false
      if (this.searched === '') this.#sessions = take(this.#sessions, rows, cursor)
      else {
        this.#hits = take(this.#hits, rows, cursor)
        this.#compare()
      }
      this.#failed(undefined)
    } catch (error) {
      if (!signal.aborted && !this.#stop.signal.aborted) this.#failed(error)
      return false
    } finally {
      if (!signal.aborted) this.#reading = false
    }
    this.#changed()
    return true
  }
}
