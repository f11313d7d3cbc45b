import type { Connection, Sql } from '../../../postgres/connection.ts'
import { classify } from '../../../postgres/failure.ts'
import type { Pools } from '../../../postgres/pools.ts'

/** Longer than a statement may take: then the connection leads nowhere. */
const answerMs = 20_000
/** A lock that is held for longer holds up everybody's group: who needs it writes alone, and waits there. */
const limits = { statementMs: 15_000, lockMs: 500, isLookup: true }

/** The connection of the groups. One that broke is opened again by the next statement. */
export class HotConnection {
  readonly #pools: Pools
  #connection: Connection | undefined

  constructor(pools: Pools) {
    this.#pools = pools
  }

  async open(): Promise<Connection> {
    this.#connection ??= await this.#pools.connect('hot', limits)
    return this.#connection
  }

  /** A transaction of one statement. */
  async use<T>(statement: (sql: Sql) => Promise<T>): Promise<T> {
    const connection = await this.open()
    const timer = setTimeout(() => connection.destroy(), answerMs)
    try {
      return await connection.alone(statement)
    } catch (error) {
      if (classify(error) === 'away') await this.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    const closing = this.#connection
    this.#connection = undefined
    await closing?.close().catch(() => {})
  }
}
