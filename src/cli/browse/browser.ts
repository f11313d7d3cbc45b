import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import type { EntityKind } from '../../core/run.ts'
import { type SearchWord, searchWordsOf } from '../../core/text/message-search.ts'
import { describeError } from '../command/exit.ts'
import { editLine, emptyLine, insert, type Line } from '../terminal/edit-line.ts'
import { terminalLine } from '../terminal/text.ts'
import { asTyped } from './find-words.ts'
import { markWords } from './found-words.ts'
import { type Action, actionOf, type BrowserKey } from './keys.ts'
import type { Layout } from './line-cache.ts'
import { Lists } from './lists.ts'
import type { Row } from './row-list.ts'
import { isUnreachable } from './run-reader.ts'
import { SessionView } from './session-view.ts'

/** Rows of the header, the key help and one empty line at each. */
export const frameRows = 4
const rowsPerEntry = 2

export interface BrowserScreen {
  dialog: 'none' | 'search' | 'delete' | 'help'
  typed: Line
  /** Empty: all sessions are listed. */
  searched: string
  /** The words of `searched`. */
  words: readonly SearchWord[]
  /** Of the selected row, such as `3 of 134`. */
  place: string
  rows: readonly (Row & { isSelected: boolean })[]
  loading: boolean
  session: { row: Row; lines: readonly string[]; atEnd: boolean; live: boolean; empty: boolean } | undefined
  lost: boolean
  message: string | undefined
}

export interface Outcome {
  interrupted: boolean
  chat?: { sessionId: string; agentId: string; kind: EntityKind | undefined }
}

export interface BrowserOptions {
  client: Client
  layout: Layout
  /** How a found word looks; default: as the rest. */
  mark?: (text: string) => string
}

const frameMs = 40
const lookMs = 1000
const maxKeysAtOnce = 256

/** State of the session browser: the lists, the open session, and what keys do. Loads only what is visible. */
export class SessionBrowser {
  /** Rejects when drawing fails. */
  readonly ended: Promise<Outcome>
  readonly #end: (outcome: Outcome) => void
  readonly #fail: (error: unknown) => void
  readonly #options: BrowserOptions
  readonly #listeners = new Set<() => void>()
  readonly #lists: Lists
  #view: { row: Row; session: SessionView } | undefined
  #dialog: BrowserScreen['dialog'] = 'none'
  #typed = emptyLine
  #message: string | undefined
  #lost = false
  #closed = false
  #size = { columns: 80, rows: 24 }
  #timer: NodeJS.Timeout | undefined
  readonly #looking: NodeJS.Timeout
  #screen: BrowserScreen

  constructor(options: BrowserOptions) {
    this.#options = options
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    this.ended = promise
    this.#end = resolve
    this.#fail = reject
    this.#lists = new Lists(options.client, this.#changed, this.#failed)
    this.#screen = this.#draw()
    this.#looking = setInterval(this.#look, lookMs)
  }

  readonly get = (): BrowserScreen => this.#screen

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async open(): Promise<void> {
    await this.#lists.open()
    this.#screen = this.#draw()
  }

  resize(columns: number, rows: number): void {
    if (columns === this.#size.columns && rows === this.#size.rows) return
    this.#size = { columns, rows }
    this.#changed()
  }

  key(input: string, key: BrowserKey): void {
    this.#message = undefined
    if (key.ctrl && input === 'c') this.leave({ interrupted: true })
    else if (this.#dialog === 'search') this.#type(input, key)
    else if (this.#dialog === 'delete') this.#decide(input)
    else if (this.#dialog === 'help') this.#dialog = 'none'
    else this.#press(input, key)
    this.#changed()
  }

  paste(text: string): void {
    if (this.#dialog !== 'search') return
    this.#filter(insert(this.#typed, text.replace(/\s+/g, ' ')))
    this.#changed()
  }

  leave(outcome: Outcome): void {
    this.#closed = true
    clearInterval(this.#looking)
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#lists.close()
    this.#view?.session.close()
    this.#end(outcome)
  }

  /** Input that arrives in one piece is treated as single keys until one opens a dialog. */
  #press(input: string, key: BrowserKey): void {
    const [first = '', ...more] = input.slice(0, maxKeysAtOnce)
    const action = actionOf(first, key)
    if (action !== undefined) this.#act(action)
    if (more.length > 0) this.key(more.join(''), key)
  }

  #act(action: Action): void {
    const { type } = action
    const { session } = this.#view ?? {}
    if (type === 'leave') this.leave({ interrupted: false })
    else if (type === 'help') this.#dialog = 'help'
    else if (type === 'search') {
      this.#close()
      this.#dialog = 'search'
      this.#typed = insert(emptyLine, this.#lists.searched)
    } else if (type === 'delete' && this.#row !== undefined) this.#dialog = 'delete'
    else if (type === 'chat') this.#chat()
    else if (type === 'back') this.#back()
    else if (session === undefined) {
      if (type === 'open') this.#open(this.#row)
      else if (type === 'end') this.#lists.toEnd()
      else this.#lists.move(type === 'start' ? -Infinity : this.#distance(action, this.#shownRows))
    } else if (type === 'start') session.toStart()
    else if (type === 'end') session.toEnd()
    else if (type === 'move' || type === 'page') session.scroll(this.#distance(action, this.#height - 1))
  }

  #distance(action: Action, page: number): number {
    if (action.type === 'move') return action.by
    return action.type === 'page' ? action.by * Math.max(1, page) : 0
  }

  get #row(): Row | undefined {
    return this.#view?.row ?? this.#lists.selected
  }

  get #height(): number {
    return Math.max(1, this.#size.rows - frameRows)
  }

  get #shownRows(): number {
    return Math.max(1, Math.floor(this.#height / rowsPerEntry))
  }

  #open(row: Row | undefined): void {
    if (row === undefined) return
    const { client, layout } = this.#options
    const { sessionId, hit } = row
    const events = { changed: this.#changed, failed: this.#failed }
    const session = new SessionView({ client, sessionId, hit, words: this.#words, layout, ...events })
    this.#view = { row, session }
    void session.look()
  }

  #close(): void {
    this.#view?.session.close()
    this.#view = undefined
  }

  get #words(): readonly SearchWord[] {
    return this.#lists.searched === '' ? [] : searchWordsOf(asTyped(this.#lists.searched))
  }

  #back(): void {
    if (this.#view !== undefined) {
      this.#close()
      void this.#lists.look()
    } else if (this.#lists.searched !== '') this.#lists.filter('')
    else this.leave({ interrupted: false })
  }

  #chat(): void {
    const row = this.#row
    const owner = this.#view?.session.owner ?? row?.owner
    if (row === undefined) return
    if (owner !== undefined) {
      this.leave({ interrupted: false, chat: { sessionId: row.sessionId, agentId: owner.id, kind: owner.kind } })
    } else this.#message = 'No agent has answered in this session yet.'
  }

  #type(input: string, key: BrowserKey): void {
    const ends = /[\r\n]$/.test(input)
    if (key.escape) {
      this.#dialog = 'none'
      this.#lists.filter('')
    } else if (key.return || ends) {
      if (ends) this.#filter(editLine(this.#typed, input.replace(/[\r\n]+/g, ' ').trimEnd(), key))
      this.#dialog = 'none'
    } else if (key.backspace && this.#typed.text === '') this.#dialog = 'none'
    else if (key.upArrow || key.downArrow) this.#lists.move(key.upArrow ? -1 : 1)
    else this.#filter(editLine(this.#typed, input.replaceAll('\n', ' '), key))
  }

  #filter(typed: Line): void {
    this.#typed = typed
    this.#lists.filter(typed.text.trim())
  }

  #decide(input: string): void {
    this.#dialog = 'none'
    const row = this.#row
    if (/^y/i.test(input) && row !== undefined) void this.#delete(row)
    else this.#message = 'Nothing was deleted.'
  }

  async #delete({ sessionId, title }: Row): Promise<void> {
    try {
      await this.#options.client.sessions.delete(sessionId)
      this.#message = `Deleted ${title}.`
    } catch (error) {
      if (!isAppError(error) || error.code !== 'session_not_found') return this.#failed(error)
      this.#message = `${title} was already deleted.`
    }
    this.#lists.remove(sessionId)
    if (this.#view?.row.sessionId === sessionId) this.#back()
    this.#changed()
  }

  readonly #look = (): void => void (this.#view?.session ?? this.#lists).look()

  readonly #failed = (error: unknown): void => {
    // A server that sends Retry-After is reachable.
    const lost = isUnreachable(error) && !(isAppError(error) && error.retryAfterSeconds !== undefined)
    if (error !== undefined && !lost) this.#message = terminalLine(describeError(error))
    if (lost === this.#lost && (error === undefined || lost)) return
    this.#lost = lost
    this.#changed()
  }

  readonly #changed = (): void => {
    if (this.#closed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      try {
        this.#screen = this.#draw()
        for (const listener of this.#listeners) listener()
      } catch (error) {
        this.#fail(error)
        this.leave({ interrupted: true })
      }
    }, frameMs)
  }

  #draw(): BrowserScreen {
    const { columns } = this.#size
    const view = this.#view
    let session: BrowserScreen['session']
    if (view !== undefined) {
      const { lines, atEnd } = view.session.page(columns, this.#height)
      const { live, empty } = view.session
      const { mark } = this.#options
      const marked = view.row.hit === undefined || mark === undefined
      const shown = marked ? lines : lines.map((line) => markWords(line, this.#words, mark))
      session = { row: view.row, lines: shown, atEnd, live, empty }
    }
    return {
      dialog: this.#dialog,
      typed: this.#typed,
      searched: this.#lists.searched,
      words: this.#words,
      place: this.#lists.place,
      rows: session === undefined ? this.#lists.show(this.#shownRows) : [],
      loading: this.#lists.loading,
      session,
      lost: this.#lost,
      message: this.#message,
    }
  }
}
