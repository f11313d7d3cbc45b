import type { TranscriptEntry } from './transcript.ts'

/** The lines of an entry at a width, each no wider. */
export type Layout = (entry: TranscriptEntry, columns: number) => readonly string[]

/** Some windows of the largest blocks. */
const maxEntries = 256

/** The lines of the entries that were shown last: laying one out takes as long as drawing it. */
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
