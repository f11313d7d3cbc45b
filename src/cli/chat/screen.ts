import { type Block, BlockSplitter } from '../markdown/blocks.ts'

/** Something that has been shown and does not change any more. */
export interface Entry {
  id: number
  kind: 'name' | 'user' | 'markdown' | 'note' | 'error'
  text: string
  /** It goes on where the entry before was cut. */
  joined: boolean
}

/** What the terminal shows. */
export interface Screen {
  entries: readonly Entry[]
  /** The end of the answer, which still grows. */
  open: string
  openJoined: boolean
  /** Tools and steps at work. */
  working: readonly string[]
  /** Since when a run is at work; undefined: none is. */
  busySince: number | undefined
  tokens: number
  connectionLost: boolean
  /** What the next line answers. */
  question: string | undefined
}

const frameMs = 50
/** Drawing takes no more than one part in so many of the time while text comes faster than it can be drawn. */
const drawShare = 4
const longestFrameMs = 500
/** Of one answer; nobody reads more, and it is all recorded. */
const maxShownChars = 1_000_000
/** As much waits for the next frame before whoever brings more has to. */
const maxPendingChars = 256 * 1024

/** The state of the chat's screen. Text is taken up at most every 50 ms, less often where drawing is slow; all else at once. */
export class ChatScreen {
  #screen: Screen = {
    entries: [],
    open: '',
    openJoined: false,
    working: [],
    busySince: undefined,
    tokens: 0,
    connectionLost: false,
    question: undefined,
  }
  readonly #listeners = new Set<() => void>()
  #splitter = new BlockSplitter()
  #pending = ''
  #timer: NodeJS.Timeout | undefined
  /** How long the last frame took to draw. */
  #drawMs = 0
  #frame = Promise.withResolvers<void>()
  #count = 0
  #shownChars = 0
  #leftOutChars = 0
  #forgotten = 0
  readonly #working = new Map<string, string>()

  readonly get = (): Screen => this.#screen

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Behind the answer so far. */
  say(kind: Entry['kind'], text: string): void {
    this.#closeText()
    this.#add({ kind, text, joined: false })
    this.#publish()
  }

  /** More of the answer. Resolves when there is room for more. */
  async text(text: string): Promise<void> {
    const room = Math.max(0, maxShownChars - this.#shownChars)
    this.#shownChars += text.length
    this.#leftOutChars += Math.max(0, text.length - room)
    this.#pending += text.slice(0, room).replaceAll('\t', '    ')
    this.#timer ??= setTimeout(() => this.#takeText(), this.#frameMs)
    if (this.#pending.length <= maxPendingChars) return
    // Nobody is kept waiting because the frame before was slow.
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#takeText(), frameMs)
    await this.#frame.promise
  }

  begin(now: number): void {
    this.#shownChars = 0
    this.#leftOutChars = 0
    this.set({ busySince: now, tokens: 0, connectionLost: false })
  }

  end(): void {
    this.#closeText()
    if (this.#leftOutChars > 0) {
      const text = `${this.#leftOutChars} more characters are not shown. /save writes them to a file.`
      this.#add({ kind: 'note', text, joined: false })
      this.#leftOutChars = 0
    }
    this.#working.clear()
    this.set({ busySince: undefined, working: [], connectionLost: false })
  }

  startWork(id: string, text: string): void {
    this.#working.set(id, text)
    this.set({ working: [...this.#working.values()] })
  }

  endWork(id: string): string | undefined {
    const text = this.#working.get(id)
    this.#working.delete(id)
    this.set({ working: [...this.#working.values()] })
    return text
  }

  set(change: Partial<Screen>): void {
    this.#publish(change)
  }

  /** What has been written to the terminal stays there, and takes no memory here. */
  forget(entries: readonly Entry[]): void {
    for (; this.#forgotten < entries.length; this.#forgotten++) {
      const entry = entries[this.#forgotten]
      if (entry !== undefined) entry.text = ''
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#frame.resolve()
  }

  get #frameMs(): number {
    return Math.min(longestFrameMs, Math.max(frameMs, this.#drawMs * drawShare))
  }

  #takeText(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const pending = this.#pending
    this.#pending = ''
    this.#addBlocks(this.#splitter.push(pending))
    const began = performance.now()
    this.#publish()
    // Behind React's own, which draws.
    queueMicrotask(() => {
      this.#drawMs = performance.now() - began
    })
    this.#frame.resolve()
    this.#frame = Promise.withResolvers<void>()
  }

  #closeText(): void {
    if (this.#pending !== '') this.#takeText()
    this.#addBlocks(this.#splitter.end())
  }

  #addBlocks(blocks: readonly Block[]): void {
    for (const { text, joined } of blocks) this.#add({ kind: 'markdown', text, joined })
  }

  #add(entry: Omit<Entry, 'id'>): void {
    this.#screen = { ...this.#screen, entries: [...this.#screen.entries, { ...entry, id: this.#count++ }] }
  }

  #publish(change: Partial<Screen> = {}): void {
    const { text: open, joined: openJoined } = this.#splitter.open
    this.#screen = { ...this.#screen, open, openJoined, ...change }
    for (const listener of this.#listeners) listener()
  }
}
