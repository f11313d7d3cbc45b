import type { Logger } from '../../core/logger.ts'
import type { Connection } from './connection.ts'
import { classify } from './failure.ts'

const pageBytes = 4096
/** Bytes committed between two checkpoints: few enough that the WAL stays in memory and is overwritten in place. */
const stepBytes = 8 * 1024 * 1024
const walLimitBytes = 64 * 1024 * 1024
/** What every commit writes: one leaf page of each B-tree. */
const commitBytes = 8 * pageBytes
/** How long a checkpoint that blocks the writer waits for readers before it is postponed. */
export const checkpointWaitMs = 50
const firstRetryMs = 250
const lastRetryMs = 30_000

export interface CheckpointOptions {
  /** Its own connection, which waits `checkpointWaitMs` for readers. */
  connection: Connection
  logger: Logger
  /** Called when a write to the file failed: data that the kernel had buffered may be lost. */
  onBroken: (error: unknown) => void
  /** Calls `afterCommit` soon, even without a write. */
  nudge: () => void
}

/**
 * Moves the WAL into the file on its own connection while the writer works, then moves the rest while the writer waits. After
 * that SQLite restarts the WAL in place; a WAL that does not grow is cheaper to sync. When readers have prevented the restart
 * for long, or when deleted text must leave the WAL, the writer waits until the WAL is empty. If a reader stays, the checkpoint
 * is postponed and the WAL grows.
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

  /** Returns a promise when the writer must wait for it. Each write costs one leaf page of its own, plus its `characters`. */
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

  /** Empties the WAL soon: deleted text stays in it until it is overwritten. */
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

  /** `walBytes` is the length of the WAL; 0: unknown. */
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
