import { type Block, BlockSplitter } from '../../core/markdown/blocks.ts'
import { type Entry, emptyScreen, type Screen } from './screen-state.ts'

const frameMs = 50
/** Drawing takes at most 1/n of the time while text arrives faster than it can be drawn. */
const drawShare = 4
const longestFrameMs = 500
/** Per answer; the record has all of it. */
const maxShownChars = 1_000_000
/** Backpressure: `text` waits once this much text is pending. */
const maxPendingChars = 256 * 1024

/** It has no tokens. */
const offlineModel = 'offline'
/** Of the reasoning, to find its last line. */
const maxThinkingChars = 1000

/** Text is drawn at most every 50 ms, less often when drawing is slow; everything else at once. */
export class ChatScreen {
  #screen = emptyScreen
  readonly #listeners = new Set<() => void>()
  #splitter = new BlockSplitter()
  #pending = ''
  /** The end of the reasoning under way. */
  #thinking: string | undefined
  #streamedChars = 0
  #inCall = false
  #drawnAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #drawMs = 0
  #frame = Promise.withResolvers<void>()
  #count = 0
  #shownChars = 0
  #leftOutChars = 0
  #forgotten = 0
  readonly #working = new Map<string, { text: string; progress?: string }>()

  readonly get = (): Screen => this.#screen

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  say(kind: Entry['kind'], text: string): void {
    this.#closeText()
    this.#add({ kind, text, joined: false })
    this.#publish()
  }

  /** Appends to the answer. Resolves when there is room for more. */
  async text(text: string): Promise<void> {
    const room = Math.max(0, maxShownChars - this.#shownChars)
    this.#shownChars += text.length
    this.#leftOutChars += Math.max(0, text.length - room)
    this.#pending += text.slice(0, room).replaceAll('\t', '    ')
    this.#streamedChars += text.length
    if (text !== '') this.#thinking = undefined
    this.#timer ??= setTimeout(() => this.#takeText(), this.#nextFrameMs)
    if (this.#pending.length <= maxPendingChars) return
    // A key must not wait because the previous frame was slow.
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#takeText(), frameMs)
    await this.#frame.promise
  }

  reason(text: string): void {
    this.#streamedChars += text.length
    this.#thinking = `${this.#thinking ?? ''}${text}`.slice(-maxThinkingChars)
    this.#timer ??= setTimeout(() => this.#takeText(), this.#nextFrameMs)
  }

  startCall(model: string): void {
    this.#inCall = model !== offlineModel
    this.#publish()
  }

  /** A model call has ended, and has told what it gave. */
  endCall(outputTokens: number): void {
    this.#inCall = false
    this.#streamedChars = 0
    this.set({ tokens: this.#screen.tokens + outputTokens })
  }

  begin(now: number): void {
    this.#streamedChars = 0
    this.#inCall = false
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
    this.#thinking = undefined
    this.set({ busySince: undefined, activity: [], connectionLost: false })
  }

  startWork(id: string, text: string): void {
    this.#working.set(id, { text })
    this.#thinking = undefined
    this.#showWork()
  }

  /** The newest takes the place of the one before. */
  tellProgress(id: string, progress: string): void {
    const work = this.#working.get(id)
    if (work === undefined) return
    work.progress = progress
    this.#showWork()
  }

  endWork(id: string): string | undefined {
    const work = this.#working.get(id)
    this.#working.delete(id)
    this.#showWork()
    return work?.text
  }

  #showWork(): void {
    const working = [...this.#working.values()]
    const activity = working.map(({ text, progress }) => (progress === undefined ? text : `${text}  ${progress}`))
    this.set({ activity })
  }

  set(change: Partial<Screen>): void {
    this.#publish(change)
  }

  /** Drops entries that are on the terminal. */
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

  /** The first text after a rest is drawn at once. */
  get #nextFrameMs(): number {
    const apart = Math.min(longestFrameMs, Math.max(frameMs, this.#drawMs * drawShare))
    return Math.min(apart, Math.max(0, this.#drawnAt + apart - performance.now()))
  }

  #takeText(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const pending = this.#pending
    this.#pending = ''
    this.#addBlocks(this.#splitter.push(pending))
    const began = performance.now()
    this.#publish()
    // After React's own microtask, which draws.
    queueMicrotask(() => {
      this.#drawnAt = performance.now()
      this.#drawMs = this.#drawnAt - began
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
    const thinking = this.#thinking === undefined ? undefined : lastLine(this.#thinking)
    this.#screen = {
      ...this.#screen,
      ...{ open, openJoined, thinking, streamedChars: this.#inCall ? this.#streamedChars : 0 },
      ...change,
    }
    for (const listener of this.#listeners) listener()
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? ''
}
