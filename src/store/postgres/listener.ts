import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../../core/logger.ts'
import type { Connection } from './connection.ts'
import type { Pools } from './pools.ts'

const firstWaitMs = 50
const longestWaitMs = 2_000

export interface Hearing {
  heard(payload: string): void
  /** It listens. What was sent earlier is lost. */
  listens(): void
  /** It does not listen any more, and tries to. */
  isDeaf(): void
}

/** Listens on a channel over a connection of its own, which it opens again whenever it breaks. */
export class Listener {
  readonly #pools: Pools
  readonly #channel: string
  readonly #hearing: Hearing
  readonly #logger: Logger
  readonly #ending = new AbortController()
  #connection: Connection | undefined
  #done: Promise<void> | undefined

  constructor(pools: Pools, channel: string, hearing: Hearing) {
    this.#pools = pools
    this.#channel = channel
    this.#hearing = hearing
    this.#logger = pools.options.logger
  }

  start(): void {
    this.#done ??= this.#listenAgain()
  }

  /** For a connection that seems to be open but hears nothing. */
  reconnect(): void {
    this.#connection?.destroy()
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#connection?.destroy()
    await this.#done
  }

  async #listenAgain(): Promise<void> {
    const { signal } = this.#ending
    let waitMs = firstWaitMs
    while (!signal.aborted) {
      try {
        if (await this.#listen()) waitMs = firstWaitMs
      } catch (error) {
        this.#logger.debug({ error }, 'the connection that listens could not be opened')
      }
      if (signal.aborted) return
      this.#hearing.isDeaf()
      await wait(waitMs, undefined, { signal, ref: false }).catch(() => {})
      waitMs = Math.min(longestWaitMs, waitMs * 2)
    }
  }

  /** Until the connection ends. */
  async #listen(): Promise<boolean> {
    const connection = await this.#pools.connect('listen', {}, 'listen')
    this.#connection = connection
    try {
      const { client } = connection
      const ended = new Promise<void>((resolve) => client.once('end', resolve))
      client.on('notification', ({ payload }) => this.#hearing.heard(payload ?? ''))
      if (this.#ending.signal.aborted) return false
      await connection.exec(`LISTEN "${this.#channel}"`)
      this.#hearing.listens()
      await ended
      return true
    } finally {
      this.#connection = undefined
      connection.destroy()
    }
  }
}
