import type { Logger } from '../../core/logger.ts'
import type { Connection } from './connection.ts'
import { classify } from './failure.ts'

const pageBytes = 4096
/** How much is committed between two checkpoints. */
const stepBytes = 8 * 1024 * 1024
const walLimitBytes = 64 * 1024 * 1024
/** What a commit writes at least: a leaf of each tree that it touches. */
const commitBytes = 16 * pageBytes

/**
 * Moves the WAL into the file, on a connection of its own, while the writer goes on. Only when that has not kept up is the
 * writer asked to wait until the WAL is empty.
 */
export class Checkpoints {
  readonly #connection: Connection
  readonly #logger: Logger
  readonly #onBroken: (error: unknown) => void
  #sinceLast = 0
  #running: Promise<void> | undefined
  #tooLong = false

  /** `onBroken`: the file could not be written, and what the kernel held for it may be gone. */
  constructor(connection: Connection, logger: Logger, onBroken: (error: unknown) => void) {
    this.#connection = connection
    this.#logger = logger
    this.#onBroken = onBroken
  }

  /** Gives a promise when the writer must wait. */
  afterCommit(): Promise<void> | undefined {
    this.#sinceLast += commitBytes
    if (this.#tooLong) {
      this.#tooLong = false
      return this.#truncate()
    }
    if (this.#sinceLast >= stepBytes && this.#running === undefined) {
      this.#sinceLast = 0
      this.#running = this.#checkpoint('PASSIVE').finally(() => {
        this.#running = undefined
      })
    }
    return undefined
  }

  async close(): Promise<void> {
    await this.#running
  }

  async #truncate(): Promise<void> {
    await this.#running
    await this.#checkpoint('TRUNCATE')
  }

  async #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Promise<void> {
    try {
      const [row] = await this.#connection.all(`PRAGMA wal_checkpoint(${mode})`)
      this.#tooLong = Number(row?.log ?? 0) * pageBytes > walLimitBytes
    } catch (error) {
      this.#logger.warn({ error }, 'checkpoint of the session database failed')
      if (classify(error) === 'fatal') this.#onBroken(error)
    }
  }
}
