import type { Logger } from '../../core/logger.ts'
import type { Connection } from './connection.ts'
import { classify } from './failure.ts'

const pageBytes = 4096
/** How much is committed between two checkpoints: little enough to stay in memory, where it is written over and over. */
const stepBytes = 8 * 1024 * 1024
const walLimitBytes = 64 * 1024 * 1024
/** A leaf of each tree that every commit touches. */
const commitBytes = 8 * pageBytes
/** What a checkpoint that makes the writer wait may wait itself for readers; then it is put off. */
export const checkpointWaitMs = 50
const firstRetryMs = 250
const lastRetryMs = 30_000

export interface CheckpointOptions {
  /** Its own, which waits `checkpointWaitMs` for readers. */
  connection: Connection
  logger: Logger
  /** The file could not be written, and what the kernel held for it may be gone. */
  onBroken: (error: unknown) => void
  /** Calls `afterCommit` soon, though nobody writes. */
  nudge: () => void
}

/**
 * Moves the WAL into the file, on a connection of its own, while the writer goes on; then the rest, while the writer waits.
 * After that the WAL is begun anew in place, and a file that does not grow is cheaper to sync. When readers have kept it from
 * that for long, or deleted text must leave it, the writer waits until it is empty, but not for a reader that stays: then it
 * is put off, and the WAL grows meanwhile.
 */
export class Checkpoints {
  readonly #options: CheckpointOptions
  #sinceLast = 0
  #running: Promise<void> | undefined
  #rest: 'PASSIVE' | 'TRUNCATE' | undefined
  #emptying: 'no' | 'due' | 'begun' = 'no'
  #retryMs = firstRetryMs
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: CheckpointOptions) {
    this.#options = options
  }

  /** Gives a promise when the writer must wait. A write costs a leaf that no other does, and what it says: `characters` of all. */
  afterCommit(writes: number, characters: number): Promise<void> | undefined {
    this.#sinceLast += commitBytes + writes * pageBytes + characters
    if (this.#running !== undefined || this.#closed) return undefined
    if (this.#rest !== undefined) {
      const mode = this.#rest
      this.#rest = undefined
      return this.#finish(mode)
    }
    if (this.#sinceLast >= stepBytes || this.#emptying === 'due') this.#begin()
    return undefined
  }

  /** Takes what is in the WAL out of it soon: deleted text would stay there until something is written over it. */
  empty(): void {
    if (this.#closed || this.#emptying !== 'no' || this.#retry !== undefined) return
    this.#emptying = 'due'
    this.#options.nudge()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    await this.#running
  }

  #begin(): void {
    this.#sinceLast = 0
    if (this.#emptying === 'due') this.#emptying = 'begun'
    this.#running = this.#checkpoint('PASSIVE').then(({ walBytes }) => {
      this.#running = undefined
      if (this.#emptying === 'begun' || walBytes > walLimitBytes) this.#rest = 'TRUNCATE'
      else if (walBytes > 0) this.#rest = 'PASSIVE'
      if (this.#emptying === 'begun' && !this.#closed) this.#options.nudge()
    })
  }

  async #finish(mode: 'PASSIVE' | 'TRUNCATE'): Promise<void> {
    const { done } = await this.#checkpoint(mode)
    if (this.#emptying !== 'begun') return
    this.#emptying = 'no'
    if (done) this.#retryMs = firstRetryMs
    else this.#emptyLater()
  }

  #emptyLater(): void {
    if (this.#closed) return
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.empty()
    }, this.#retryMs).unref()
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs)
  }

  /** `walBytes` is the length of the WAL, 0 when it is not known. */
  async #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Promise<{ walBytes: number; done: boolean }> {
    const { connection, logger, onBroken } = this.#options
    try {
      const [row] = await connection.all(`PRAGMA wal_checkpoint(${mode})`)
      return { walBytes: Number(row?.log ?? 0) * pageBytes, done: row?.busy === 0 }
    } catch (error) {
      logger.warn({ error }, 'checkpoint of the session database failed')
      if (classify(error) === 'fatal') onBroken(error)
      return { walBytes: 0, done: false }
    }
  }
}
