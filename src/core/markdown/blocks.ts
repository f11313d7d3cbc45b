import { endsFence, type Fence, fenceOf, isBlank, markOf } from './lines.ts'

export interface Block {
  text: string
  /** Continues the block before, which was cut: no empty line between. */
  joined: boolean
}

/** Maximum size of the open block, since it is drawn again at each frame. */
const maxOpenChars = 4096
/** So much of the line that begins code is told again where the code was cut. */
const longestFence = 64

/**
 * Splits streamed Markdown into blocks. A block is closed when later text can't change how it looks: at an empty line
 * outside of code and lists, or at the end of fenced code.
 */
export class BlockSplitter {
  /** Of fenced code that is open. */
  readonly #maxCodeChars: number
  #text = ''
  /** Lines before this offset are scanned. */
  #looked = 0
  /** The first empty line after the open block, which ends it unless the next line belongs to it. */
  #gap: number | undefined
  #fence: (Fence & { line: string }) | undefined
  #joined = false
  #closed: Block[] = []

  /** Without a number, code is cut like other text. */
  constructor(maxCodeChars = maxOpenChars) {
    this.#maxCodeChars = maxCodeChars
  }

  get open(): Block {
    return { text: this.#text, joined: this.#joined }
  }

  /** Adds text and gives the blocks that it closed. */
  push(text: string): Block[] {
    this.#text += text
    for (;;) {
      const end = this.#text.indexOf('\n', this.#looked)
      if (end === -1) break
      this.#look(this.#text.slice(this.#looked, end).trimEnd(), end + 1)
      while (this.#looked > this.#most) this.#cut()
    }
    while (this.#text.length > this.#most) this.#cut()
    return this.#take()
  }

  end(): Block[] {
    this.#close(this.#text.length, false)
    return this.#take()
  }

  get #most(): number {
    return this.#fence === undefined || this.#isList() ? maxOpenChars : this.#maxCodeChars
  }

  #look(line: string, next: number): void {
    const start = this.#looked
    this.#looked = next
    if (this.#fence !== undefined) {
      if (!endsFence(line, this.#fence)) return
      this.#fence = undefined
      if (!this.#isList()) this.#close(next, false)
      return
    }
    if (isBlank(line)) {
      this.#gap ??= next
      return
    }
    const fence = fenceOf(line)
    if (this.#gap !== undefined) {
      const goesOn = this.#isList() && (/^(?: {2}|\t)/.test(line) || markOf(line) !== undefined)
      if (!goesOn) this.#close(start, false)
      this.#gap = undefined
    } else if (fence !== undefined && start > 0 && !this.#isList()) this.#close(start, false)
    if (fence !== undefined) this.#fence = { ...fence, line: line.slice(0, longestFence) }
  }

  #isList(): boolean {
    return markOf(this.#text.slice(0, 16).replace(/^\n+/, '')) !== undefined
  }

  #close(at: number, goesOn: boolean): void {
    const text = this.#text.slice(0, at)
    this.#text = this.#text.slice(at)
    this.#looked = Math.max(0, this.#looked - at)
    this.#gap = undefined
    if (text.trim() !== '') this.#closed.push({ text, joined: this.#joined })
    this.#joined = goesOn
    if (!goesOn && at > 0 && this.#text === '') this.#fence = undefined
  }

  /** Shows the first part of an oversized block; fenced code stays fenced on both sides. */
  #cut(): void {
    const most = this.#text.slice(0, this.#most)
    const line = most.lastIndexOf('\n') + 1
    const word = most.lastIndexOf(' ') + 1
    // What follows within an item is indented: by itself it would be code.
    const item = this.#isList() ? lastItem(most) : 0
    const at = [item, line, word].find((place) => place > most.length / 2) ?? wholeCharacters(most)
    const fence = at <= this.#looked ? this.#fence : undefined
    const before = this.#closed.length
    this.#close(at, true)
    if (fence === undefined) return
    const block = this.#closed[before]
    if (block !== undefined) block.text = `${block.text.replace(/\n$/, '')}\n${fence.marker.slice(0, longestFence)}`
    this.#text = `${fence.line}\n${this.#text}`
    this.#looked += fence.line.length + 1
  }

  #take(): Block[] {
    const closed = this.#closed
    this.#closed = []
    return closed
  }
}

/** Where the last item of the outer list starts; 0: at the start. */
function lastItem(text: string): number {
  let last = 0
  for (const { index } of text.matchAll(/\n(?=(?:[-*+]|\d{1,9}[.)]) )/g)) last = index + 1
  return last
}

function wholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}
