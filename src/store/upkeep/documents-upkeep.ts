import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../core/logger.ts'
import type { Writer } from '../documents/writer.ts'
import type { Connection } from '../sqlite/connection.ts'
import { mergeStep } from './index-merge.ts'
import { Shrinking } from './shrinking.ts'

export interface UpkeepOptions {
  writer: Writer
  logger: Logger
  /** Counts the writes. */
  writes: () => number
  /** Called before and after words without a chunk are deleted: a later document must add them again. */
  onWordsForgotten: () => void
}

const quietMs = 1_000
const pauseMs = 20
const termsAtOnce = 500

/** Records, in the transaction that deletes chunks, that their words must leave the index. Survives a restart. */
export async function notePurge(connection: Connection): Promise<void> {
  await connection.run(`INSERT INTO counter VALUES ('purge', 1)
    ON CONFLICT (counter_name) DO UPDATE SET next_value = next_value + 1`)
}

/**
 * Removes the words of deleted chunks from the keyword index in small steps, then returns free pages to the disk and empties
 * the WAL. Starts after a second without writes, or after an hour at the latest.
 */
export class DocumentsUpkeep {
  readonly #options: UpkeepOptions
  readonly #shrinking: Shrinking
  #purging: Promise<void> | undefined
  #again = false
  #closed = new AbortController()

  constructor(options: UpkeepOptions) {
    this.#options = options
    const { writer, writes, logger } = options
    this.#shrinking = new Shrinking({
      work: (work) => writer.transaction(work),
      writes,
      onDone: () => void this.#emptyLog().catch(() => {}),
      logger,
    })
  }

  /** Call it after deleting chunks. */
  wake(): void {
    if (this.#closed.signal.aborted) return
    this.#again = true
    this.#purging ??= this.#purge()
      .catch((error: unknown) =>
        this.#options.logger.warn({ error }, 'words of deleted documents are still in the keyword index'),
      )
      .finally(() => (this.#purging = undefined))
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#shrinking.close()
    await this.#purging
  }

  async #purge(): Promise<void> {
    while (this.#again && (await this.#quiet())) {
      this.#again = false
      const { writer } = this.#options
      const all = (sql: string) => writer.read((connection) => connection.all(sql))
      const [row] = await all("SELECT next_value FROM counter WHERE counter_name = 'purge'")
      const due = row?.next_value
      if (due === undefined) continue
      const collections = await all('SELECT collection_key FROM collection')
      for (const { collection_key } of collections) await this.#purgeCollection(Number(collection_key).toFixed(0))
      if (this.#closed.signal.aborted) return
      const done = "DELETE FROM counter WHERE counter_name = 'purge' AND next_value = ?"
      await writer.transaction((connection) => connection.run(done, [due]))
      await this.#emptyLog()
      this.#shrinking.wake()
    }
  }

  async #purgeCollection(key: string): Promise<void> {
    await this.#merge(`words_${key}`)
    this.#options.onWordsForgotten()
    const removed = await this.#removeTerms(key)
    this.#options.onWordsForgotten()
    if (removed) await this.#merge(`trigrams_${key}`)
  }

  async #merge(table: string): Promise<void> {
    const step = (begin: boolean) =>
      this.#options.writer.transaction((connection) => mergeStep(connection, table, begin))
    for (let more = await step(true); more && (await this.#pause()); ) more = await step(false)
  }

  async #removeTerms(key: string): Promise<boolean> {
    let removed = false
    for (let after = 0; await this.#pause(); ) {
      const step = await this.#options.writer.transaction(async (connection) => {
        const [range] = await connection.all(
          `SELECT max(term_key) AS last FROM (SELECT term_key FROM terms_${key} WHERE term_key > ? ORDER BY term_key LIMIT ?)`,
          [after, termsAtOnce],
        )
        const gone = await connection.all(
          `SELECT term_key FROM terms_${key} WHERE term_key > ? AND term_key <= ?
             AND NOT EXISTS (SELECT 1 FROM words_vocabulary_${key} WHERE term = word)`,
          [after, range?.last ?? null],
        )
        const keys = JSON.stringify(gone.map(({ term_key }) => term_key))
        if (gone.length > 0) {
          await connection.run(`DELETE FROM trigrams_${key} WHERE rowid IN (SELECT value FROM json_each(?))`, [keys])
          await connection.run(`DELETE FROM terms_${key} WHERE term_key IN (SELECT value FROM json_each(?))`, [keys])
        }
        return { last: range?.last, gone: gone.length }
      })
      removed ||= step.gone > 0
      if (typeof step.last !== 'number') return removed
      after = step.last
    }
    return removed
  }

  async #emptyLog(): Promise<void> {
    await this.#options.writer.read((connection) => connection.all('PRAGMA wal_checkpoint(TRUNCATE)'))
  }

  async #quiet(): Promise<boolean> {
    const untilMs = performance.now() + 3_600_000
    for (let seen = -1; seen !== this.#options.writes() && performance.now() < untilMs; ) {
      seen = this.#options.writes()
      if (!(await this.#pause(quietMs))) return false
    }
    return true
  }

  async #pause(ms = pauseMs): Promise<boolean> {
    const { signal } = this.#closed
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
    return !signal.aborted
  }
}
