import type { Logger } from '../../../../core/logger.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { type HiddenSessions, unhide } from '../schema/hidden.ts'
import { removedAtOnce, removeSome } from './remove.ts'

interface Options {
  hidden: HiddenSessions
  work: <T>(work: (writer: Connection) => Promise<T>, characters?: number) => Promise<T>
  /** Called after the removal of these runs; `isDone`: it was the last of their session. */
  onRemoved: (runs: readonly number[], isDone: boolean) => void
  logger: Logger
}

/** Deletes the rows of hidden sessions, one session at a time, in short commits. */
export class Removal {
  readonly #options: Options
  /** By session; resolved when none of its rows are left. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  #working: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #wake = () => {}
  #closed = false

  constructor(options: Options) {
    this.#options = options
  }

  /** The sessions must be hidden. The next process removes what this one can't. */
  add(sessionIds: readonly string[]): void {
    for (const id of sessionIds) {
      if (!this.#waiting.has(id)) this.#waiting.set(id, Promise.withResolvers<void>())
    }
    if (this.#waiting.size > 0 && !this.#closed) this.#working ??= this.#work()
  }

  /** Resolves when the id is free for another session, or the removal failed. */
  async finished(sessionId: string): Promise<void> {
    await this.#waiting.get(sessionId)?.promise
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#wake()
    await this.#working
    for (const { resolve } of this.#waiting.values()) resolve()
  }

  async #work(): Promise<void> {
    for (const [sessionId, { resolve }] of this.#waiting) {
      try {
        await this.#remove(sessionId)
      } catch (error) {
        this.#options.logger.error(
          { error, session_id: sessionId },
          'the rows of a deleted session remain until the next restart',
        )
      }
      if (this.#closed) break
      this.#waiting.delete(sessionId)
      resolve()
    }
    this.#working = undefined
  }

  async #remove(sessionId: string): Promise<void> {
    const { hidden, work, onRemoved } = this.#options
    while (!this.#closed) {
      const begunMs = performance.now()
      const { runs, isDone } = await work(async (writer) => {
        const removed = await removeSome(writer, [sessionId])
        if (removed.isDone) await unhide(writer, [sessionId])
        return removed
      }, removedAtOnce)
      if (isDone) hidden.delete(sessionId)
      onRemoved(runs, isDone)
      if (isDone) return
      // Other writes get as much time as this commit took.
      await this.#pause(performance.now() - begunMs)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      if (this.#closed) resolve()
      else this.#timer = setTimeout(resolve, ms)
    })
  }
}
