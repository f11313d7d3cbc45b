import type { Client, Pool, PoolClient } from 'pg'
import { AppError } from '../../core/error.ts'
import { pause } from '../../runtime/abort.ts'
import { Connection, type ConnectionMode, type Sql } from './connection.ts'
import { classify } from './failure.ts'
import { configOf, connectMs, type Limits, type PostgresOptions, toPrelude } from './settings.ts'
import { inTransaction, inWrite, LostCommit, statusOf } from './transaction.ts'
import { Turns } from './turns.ts'

const attempts = 5
/** No attempt begins later than this after the first, which begins with a connection. */
const retryMs = 5_000
/** The wait for what became of a transaction: longer than the database keeps one whose client is gone. */
const lookMs = 15_000
const longestPauseMs = 1_000

type Kind = 'read' | 'search' | 'vectors' | 'work' | 'bulk'

const kinds: Record<Kind, Limits & { purpose: string; connections: number }> = {
  read: { statementMs: 30_000, purpose: 'reads', connections: 4 },
  search: { statementMs: 2_000, purpose: 'searches', connections: 4 },
  vectors: { statementMs: 30_000, isNearest: true, purpose: 'vectors', connections: 4 },
  work: { statementMs: 120_000, purpose: 'works', connections: 2 },
  bulk: { statementMs: 120_000, purpose: 'bulk works', connections: 1 },
}

/** The connections of one process to one database, opened on first use. */
export class Pools {
  readonly options: PostgresOptions
  readonly #connections: Partial<Record<Kind, number>>
  readonly #statementMs: Partial<Record<Kind, number>>
  readonly #pools = new Map<Kind, Promise<Pool>>()
  readonly #turns = new Map<Kind, Turns>()
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false
  #heardAt = 0

  /** `connections`: at most so many, and `statementMs`: how long a statement may take, where they differ from the usual. */
  constructor(
    options: PostgresOptions,
    connections: Partial<Record<Kind, number>> = {},
    statementMs: Partial<Record<Kind, number>> = {},
  ) {
    this.options = options
    this.#statementMs = statementMs
    this.#connections = connections
  }

  /** A connection of its own. `direct`: it is not shared with others, whatever the mode; for `listen`, by its own address. */
  async connect(purpose: string, limits: Limits = {}, direct?: 'listen' | 'direct'): Promise<Connection> {
    const { default: pg } = await import('pg')
    const mode = direct === undefined ? this.options.connections : 'direct'
    const client: Client = new pg.Client(await configOf(this.options, purpose, limits, mode, direct === 'listen'))
    // A connection that breaks rejects its statements; without a listener it would end the process.
    client.on('error', () => {})
    try {
      await client.connect()
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    return this.#toConnection(client, limits, mode)
  }

  /**
   * A connection for what no transaction can do, past a pooler if there is an address for LISTEN. Behind a pooler, what a session
   * sets would stay for others: there statements have the limits of the role.
   */
  connectPast(purpose: string, limits: Limits): Promise<Connection> {
    const { connections, listenUrl } = this.options
    const isPast = connections === 'pooled' && listenUrl !== undefined
    return this.connect(purpose, limits, isPast ? 'listen' : undefined)
  }

  /** Statements that change nothing, each by itself; repeated after a lost connection. */
  readonly read: Sql = this.#readsOf('read')
  /** The same for what is given up after two seconds. */
  readonly search: Sql = this.#readsOf('search')
  /** The same for statements that find the nearest vectors. */
  readonly vectors: Sql = this.#readsOf('vectors')

  /** Reads of one moment: none of them sees what was committed after the first. */
  snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn('read', () =>
      this.#using('read', (connection) => inTransaction(connection, read, 'ISOLATION LEVEL REPEATABLE READ READ ONLY')),
    )
  }

  /**
   * A transaction, repeated as a whole after a deadlock or a lost connection: `work` must do nothing but statements. A commit
   * whose answer was lost is recognised. `bulk`: one at a time, so that the others don't wait for what takes long.
   */
  work<T>(work: (sql: Sql) => Promise<T>, kind: 'work' | 'bulk' = 'work'): Promise<T> {
    return this.#inTurn(kind, () => this.#repeating(kind, (connection) => inWrite(connection, work)))
  }

  /** The same on a connection of `connect`, and never repeated. */
  once<T>(connection: Connection, work: (sql: Sql) => Promise<T>): Promise<T> {
    const settled = (error: unknown) => this.#inTurn('work', () => this.#resolved<T>(error, 'work'))
    return this.#tracked(inWrite(connection, work).catch(settled))
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    for (const pool of pools) await (await pool).end()
  }

  #readsOf(kind: Kind): Sql {
    const reading = <T>(read: (sql: Sql) => Promise<T>): Promise<T> =>
      this.#inTurn(kind, () => this.#repeating(kind, (connection) => connection.alone(read)))
    return {
      all: (text, params, plan) => reading((sql) => sql.all(text, params, plan)),
      run: (text, params) => reading((sql) => sql.run(text, params)),
    }
  }

  async #repeating<T>(kind: Kind, attempt: (connection: Connection) => Promise<T>): Promise<T> {
    const begunMs = performance.now()
    for (let made = 1; ; made++) {
      try {
        return await this.#using(kind, attempt).catch((error: unknown) => this.#resolved<T>(error, kind))
      } catch (error) {
        if (made === attempts || !mayRepeat(error) || performance.now() - begunMs > retryMs) throw error
        if (classify(error) === 'away') await pause(pauseMs(made))
      }
    }
  }

  /** The result of a transaction that was committed, although its answer was lost. Throws the error when it was not. */
  async #resolved<T>(error: unknown, kind: Kind): Promise<T> {
    if (!(error instanceof LostCommit)) throw error
    const begunMs = performance.now()
    for (let looks = 1; ; looks++) {
      const asked = this.#using(kind, (connection) => connection.alone((sql) => statusOf(sql, error.transaction)))
      const status = await asked.catch((failure: unknown) => {
        if (classify(failure) === 'away') return 'unknown'
        throw failure
      })
      if (status === 'committed') return error.value as T
      if (status === 'aborted') throw error.cause
      if (status === null || performance.now() - begunMs > lookMs) throw error
      await pause(pauseMs(looks))
    }
  }

  /** All that `work` does on connections of this kind, one after the other, counts as one turn. */
  #inTurn<T>(kind: Kind, work: () => Promise<T>): Promise<T> {
    let turns = this.#turns.get(kind)
    if (turns === undefined) {
      turns = new Turns(this.#countOf(kind), () => this.#heardAt)
      this.#turns.set(kind, turns)
    }
    return this.#tracked(turns.take(work))
  }

  /** In a turn: so a connection is free, or there may be one more. */
  async #using<T>(kind: Kind, use: (connection: Connection) => Promise<T>): Promise<T> {
    const pool = await this.#poolOf(kind)
    const client = await this.#clientOf(kind, pool)
    try {
      const value = await use(this.#toConnection(client, this.#limitsOf(kind), this.options.connections))
      client.release()
      return value
    } catch (error) {
      // Its transaction may still be open.
      client.release(classify(error) === 'away')
      throw error
    }
  }

  async #clientOf(kind: Kind, pool: Pool): Promise<PoolClient> {
    const begunMs = performance.now()
    try {
      return await pool.connect()
    } catch (error) {
      // Who waits for the same would find out one after the other.
      const isSilent = this.#heardAt < begunMs && performance.now() - begunMs > 0.9 * connectMs
      if (isSilent) this.#turns.get(kind)?.giveUp()
      throw error
    }
  }

  /** A pool that ends answers nobody who still waits for a connection. */
  #tracked<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work)
    const forget = () => this.#underWay.delete(work)
    work.then(forget, forget)
    return work
  }

  #poolOf(kind: Kind): Promise<Pool> {
    const there = this.#pools.get(kind)
    if (there !== undefined) return there
    if (this.#closed)
      throw new AppError('unavailable', 'The database is being closed. Retry in a moment.', { retryAfterSeconds: 1 })
    const made = this.#open(kind)
    this.#pools.set(kind, made)
    return made
  }

  async #open(kind: Kind): Promise<Pool> {
    const { default: pg } = await import('pg')
    const { purpose } = kinds[kind]
    const config = await configOf(this.options, purpose, this.#limitsOf(kind), this.options.connections)
    const pool = new pg.Pool({ ...config, max: this.#countOf(kind), idleTimeoutMillis: 60_000, allowExitOnIdle: true })
    // One that breaks while it is in use rejects its statements; without a listener it would end the process.
    pool.on('connect', (client) => client.on('error', () => {}))
    pool.on('error', (error) => this.options.logger.debug({ error }, 'an idle connection to the database broke'))
    return pool
  }

  #countOf(kind: Kind): number {
    return this.#connections[kind] ?? kinds[kind].connections
  }

  #limitsOf(kind: Kind): Limits {
    const { statementMs, isNearest } = kinds[kind]
    return { statementMs: this.#statementMs[kind] ?? statementMs, isNearest }
  }

  #toConnection(client: Connection['client'], limits: Limits, mode: ConnectionMode): Connection {
    const prelude = mode === 'pooled' ? toPrelude(this.options.schema, limits) : ''
    return new Connection(client, mode, prelude, () => {
      this.#heardAt = performance.now()
    })
  }
}

/** An aborted transaction was undone, also when its connection broke; one of which nobody knows was perhaps not. */
function mayRepeat(error: unknown): boolean {
  if (error instanceof LostCommit) return false
  const failure = classify(error)
  return failure === 'again' || (failure === 'away' && !isCancelled(error))
}

/** It took too long, and would again. */
export function isCancelled(error: unknown): boolean {
  return (error as { code?: unknown }).code === '57014'
}

function pauseMs(made: number): number {
  return Math.min(longestPauseMs, 50 * 2 ** (made - 1))
}
