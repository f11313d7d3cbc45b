import { createSerial } from '../../runtime/serial.ts'
import type { Connection, Sql } from './connection.ts'
import { classify } from './failure.ts'
import type { Pools } from './pools.ts'
import type { Limits } from './settings.ts'

export interface SteadyLimits extends Limits {
  /** What takes longer than this is given up with its connection: nobody may be there. */
  answerMs: number
}

/** A connection of its own for short statements, one caller at a time. It is opened on first use, and again after it broke. */
export class SteadyConnection {
  readonly #pools: () => Pools
  readonly #purpose: string
  readonly #limits: SteadyLimits
  readonly #callers = createSerial()
  #connection: Connection | undefined

  constructor(pools: () => Pools, purpose: string, limits: SteadyLimits) {
    this.#pools = pools
    this.#purpose = purpose
    this.#limits = limits
  }

  /** Never repeated: whether the statement was committed is not known when the connection breaks. */
  use<T>(use: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#callers.run(async () => {
      const connection = this.#connection ?? (await this.#connect())
      const timer = setTimeout(() => connection.destroy(), this.#limits.answerMs)
      try {
        return await connection.alone(use)
      } catch (error) {
        if (classify(error) === 'away') this.#drop()
        throw error
      } finally {
        clearTimeout(timer)
      }
    })
  }

  /** After what is under way. */
  close(): Promise<void> {
    return this.#callers.run(() => this.#drop())
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#pools().connect(this.#purpose, this.#limits)
    this.#connection = connection
    // One that breaks between two statements is replaced before the next.
    connection.client.once('end', () => {
      if (this.#connection === connection) this.#connection = undefined
    })
    return connection
  }

  #drop(): void {
    this.#connection?.destroy()
    this.#connection = undefined
  }
}
