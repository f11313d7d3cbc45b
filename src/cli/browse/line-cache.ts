import type { TranscriptEntry } from './transcript.ts'

/** Lays an entry out in lines that are no wider than `columns`. */
export type Layout = (entry: TranscriptEntry, columns: number) => readonly string[]

/** Enough for several windows of the largest blocks. */
const maxEntries = 256

/** Caches the lines of recent entries: layout takes as long as drawing. */
export class LineCache {
  readonly #layout: Layout
  readonly #lines = new Map<TranscriptEntry, readonly string[]>()
  #columns = 80

  constructor(layout: Layout) {
    this.#layout = layout
  }

  resize(columns: number): void {
    if (columns !== this.#columns) this.#lines.clear()
    this.#columns = columns
  }

  get(entry: TranscriptEntry): readonly string[] {
    const lines = this.#lines.get(entry) ?? this.#layout(entry, this.#columns)
    this.#lines.delete(entry)
    this.#lines.set(entry, lines)
    if (this.#lines.size > maxEntries) {
      const [oldest] = this.#lines.keys()
      if (oldest !== undefined) this.#lines.delete(oldest)
    }
    return lines
  }
}
