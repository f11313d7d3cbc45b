import type { Client } from '../../client/client.ts'
import { findWords } from './find-words.ts'
import { addPage, emptyList, keepInSight, move, type Row, type RowList, remove, renew, wantsPage } from './row-list.ts'
import { type RowPage, readLastWords, readSessions } from './rows.ts'

const maxWords = 1000
const maxReadsAtOnce = 4

/** The list of sessions and the list of search results. Both load page by page and refresh the first page. */
export class Lists {
  searched = ''
  readonly #client: Client
  readonly #changed: () => void
  readonly #failed: (error: unknown) => void
  readonly #stop = new AbortController()
  #sessions: RowList = emptyList
  #found: RowList = emptyList
  #searching = new AbortController()
  #reading = false
  /** The last message, by run and status; undefined while it loads. */
  readonly #words = new Map<string, string | undefined>()
  #wordReads = 0

  constructor(client: Client, changed: () => void, failed: (error: unknown) => void) {
    this.#client = client
    this.#changed = changed
    this.#failed = failed
  }

  async open(): Promise<void> {
    const { rows, cursor } = await readSessions(this.#client, undefined, this.#stop.signal)
    this.#sessions = addPage(emptyList, rows, cursor)
  }

  get selected(): Row | undefined {
    const row = this.#list.rows[this.#list.selected]
    return row === undefined ? undefined : { ...row, title: this.#titleOf(row) }
  }

  get loading(): boolean {
    return this.#list.rows.length === 0 && this.#list.cursor !== null
  }

  move(by: number): void {
    this.#list = move(this.#list, by)
  }

  remove(sessionId: string): void {
    this.#sessions = remove(this.#sessions, sessionId)
    this.#found = remove(this.#found, sessionId)
  }

  /** Empty words list all sessions. */
  search(words: string): void {
    this.#searching.abort()
    this.#searching = new AbortController()
    this.#reading = false
    this.searched = words
    this.#found = emptyList
    void this.look()
  }

  /** Refreshes the first page; search results stay as they were found. */
  async look(): Promise<void> {
    if (this.searched === '') await this.#read(() => this.#sessionPage(undefined), renew)
    else if (this.#found.cursor === undefined) await this.#readMore()
  }

  /** The rows that fit. Missing texts are requested. */
  show(shown: number): (Row & { isSelected: boolean })[] {
    this.#list = keepInSight(this.#list, shown)
    const list = this.#list
    if (list.cursor !== undefined && wantsPage(list, shown)) void this.#readMore()
    return list.rows.slice(list.top, list.top + shown).map((row, place) => {
      const isSelected = list.top + place === list.selected
      return { ...row, isSelected, title: this.#titleOf(row), words: row.words ?? this.#lastWords(row) }
    })
  }

  /** A search result has only the session's id; the list may know its title. */
  #titleOf({ sessionId, title }: Row): string {
    if (this.searched === '') return title
    return this.#sessions.rows.find((row) => row.sessionId === sessionId)?.title ?? title
  }

  close(): void {
    this.#stop.abort()
    this.#searching.abort()
  }

  get #list(): RowList {
    return this.searched === '' ? this.#sessions : this.#found
  }

  set #list(list: RowList) {
    if (this.searched === '') this.#sessions = list
    else this.#found = list
  }

  #readMore(): Promise<void> {
    const cursor = this.#list.cursor ?? undefined
    const { searched } = this
    const read = () =>
      searched === '' ? this.#sessionPage(cursor) : findWords(this.#client, searched, cursor, this.#signal)
    return this.#read(read, addPage)
  }

  #sessionPage(cursor: string | undefined): Promise<RowPage> {
    return readSessions(this.#client, cursor, this.#signal)
  }

  get #signal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, this.#searching.signal])
  }

  async #read(read: () => Promise<RowPage>, take: typeof addPage): Promise<void> {
    if (this.#reading) return
    this.#reading = true
    const { signal } = this.#searching
    try {
      const { rows, cursor } = await read()
      if (signal.aborted) return
      this.#list = take(this.#list, rows, cursor)
      this.#failed(undefined)
    } catch (error) {
      if (signal.aborted || this.#stop.signal.aborted) return
      this.#failed(error)
    } finally {
      if (!signal.aborted) this.#reading = false
    }
    this.#changed()
  }

  #lastWords({ last }: Row): string | undefined {
    if (last === undefined) return undefined
    const key = `${last.runId} ${last.status}`
    if (!this.#words.has(key) && this.#wordReads < maxReadsAtOnce) void this.#readWords(key, last.runId)
    return this.#words.get(key)
  }

  async #readWords(key: string, runId: string): Promise<void> {
    this.#wordReads++
    this.#words.set(key, undefined)
    const words = await readLastWords(this.#client, runId, this.#stop.signal).catch(() => undefined)
    this.#wordReads--
    if (this.#stop.signal.aborted) return
    // Retried after the next refresh of the list.
    if (words === undefined) this.#words.delete(key)
    else this.#words.set(key, words)
    if (this.#words.size > maxWords) {
      const [oldest] = this.#words.keys()
      if (oldest !== undefined) this.#words.delete(oldest)
    }
    if (words !== undefined) this.#changed()
  }
}
