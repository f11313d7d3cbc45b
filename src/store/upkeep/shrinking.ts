import type { Logger } from '../../core/logger.ts'

/** Runs statements on the file's only writing connection, in order with other writes. */
export interface WriteConnection {
  all(sql: string): Promise<Record<string, unknown>[]>
}

export interface ShrinkingOptions {
  /** Runs the work inside a transaction of the writer. */
  work: <T>(work: (writer: WriteConnection) => Promise<T>) => Promise<T>
  /** Counts all writes except these steps. */
  writes: () => number
  /** Called when the file has become shorter. */
  onDone?: (() => void) | undefined
  logger: Logger
  /** How long to wait after the last write; default 1 s. */
  quietMs?: number | undefined
}

const pagesAtOnce = 128
/** Free pages that stay in the file for the next writes. */
const keptPages = 128
const pauseMs = 20

/** Returns free pages to the disk in small steps, between writes. Needs a file made with `auto_vacuum`. */
export class Shrinking {
  readonly #options: ShrinkingOptions
  #timer: NodeJS.Timeout | undefined
  #step: Promise<void> | undefined
  #seen = -1
  #closed = false
  #shortened = false

  constructor(options: ShrinkingOptions) {
    this.#options = options
  }

  /** Call it after something was deleted. */
  wake(): void {
    if (this.#closed || this.#timer !== undefined || this.#step !== undefined) return
    this.#seen = this.#options.writes()
    this.#after(this.#quietMs)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#step
  }

  get #quietMs(): number {
    return this.#options.quietMs ?? 1_000
  }

  #after(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#step = this.#next()
        .catch((error: unknown) => this.#options.logger.warn({ error }, 'free space could not be returned to the disk'))
        .finally(() => (this.#step = undefined))
    }, ms).unref()
  }

  async #next(): Promise<void> {
    const writes = this.#options.writes()
    if (writes !== this.#seen) {
      this.#seen = writes
      return this.#again(this.#quietMs)
    }
    const free = await this.#options.work(giveBack)
    this.#shortened ||= free.given
    if (free.left) return this.#again(pauseMs)
    if (this.#shortened) this.#options.onDone?.()
    this.#shortened = false
  }

  #again(ms: number): void {
    if (!this.#closed) this.#after(ms)
  }
}

/** Returns some free pages to the disk, inside or outside a transaction; `left`: there are more. */
export async function giveBack(writer: WriteConnection): Promise<{ given: boolean; left: boolean }> {
  const [mode] = await writer.all('PRAGMA auto_vacuum')
  const [before] = await writer.all('PRAGMA freelist_count')
  const free = Number(before?.freelist_count) - keptPages
  if (mode?.auto_vacuum !== 2 || free <= 0) return { given: false, left: false }
  await writer.all(`PRAGMA incremental_vacuum(${Math.min(free, pagesAtOnce)})`)
  return { given: true, left: free > pagesAtOnce }
}
