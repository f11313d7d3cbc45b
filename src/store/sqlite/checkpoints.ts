import type { Logger } from '../../core/logger.ts'
import type { Connection } from './connection.ts'
import { classify } from './failure.ts'

const pageBytes = 4096
/** How much is committed between two checkpoints: little enough to stay in memory, where it is written over and over. */
const stepBytes = 8 * 1024 * 1024
const walLimitBytes = 64 * 1024 * 1024
/** A leaf of each tree that every commit touches. */
const commitBytes = 8 * pageBytes

/**
 * Moves the WAL into the file, on a connection of its own, while the writer goes on; then the rest, while the writer waits.
 * After that the WAL is begun anew in place, and a file that does not grow is cheaper to sync. Only when readers have kept
 * it from that for long is everybody asked to wait until it is empty.
 */
export class Checkpoints {
  readonly #connection: Connection
  readonly #logger: Logger
  readonly #onBroken: (error: unknown) => void
  #sinceLast = 0
  #running: Promise<void> | undefined
  #rest: 'PASSIVE' | 'TRUNCATE' | undefined

  /** `onBroken`: the file could not be written, and what the kernel held for it may be gone. */
  constructor(connection: Connection, logger: Logger, onBroken: (error: unknown) => void) {
    this.#connection = connection
    this.#logger = logger
    this.#onBroken = onBroken
  }

  /** Gives a promise when the writer must wait. A write costs a leaf that no other does, and what it says: `characters` of all. */
  afterCommit(writes: number, characters: number): Promise<void> | undefined {
    this.#sinceLast += commitBytes + writes * pageBytes + characters
    if (this.#running !== undefined) return undefined
    if (this.#rest !== undefined) {
      const mode = this.#rest
      this.#rest = undefined
      return this.#checkpoint(mode).then(() => {})
    }
    if (this.#sinceLast >= stepBytes) {
      this.#sinceLast = 0
      this.#running = this.#checkpoint('PASSIVE').then((walBytes) => {
        this.#running = undefined
        if (walBytes > 0) this.#rest = walBytes > walLimitBytes ? 'TRUNCATE' : 'PASSIVE'
      })
    }
    return undefined
  }

  async close(): Promise<void> {
    await this.#running
  }

  /** Gives the length of the WAL, 0 when it is not known. */
  async #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Promise<number> {
    try {
      const [row] = await this.#connection.all(`PRAGMA wal_checkpoint(${mode})`)
      return Number(row?.log ?? 0) * pageBytes
    } catch (error) {
      this.#logger.warn({ error }, 'checkpoint of the session database failed')
      if (classify(error) === 'fatal') this.#onBroken(error)
      return 0
    }
  }
}
