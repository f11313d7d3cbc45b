import type { Client, ClientConfig, PoolClient } from 'pg'

/** bigint columns are numbers here: run numbers stay below 2^53. */
export type SqlValue = string | number | boolean | null | Buffer | readonly string[] | readonly number[]
export type SqlRow = Record<string, SqlValue>

/** `fresh`: planned for its parameters each time. For texts that are made of what callers ask for. Default: prepared. */
export type Plan = 'fresh'

/** What statements run on: a connection, or a transaction. Parameters are `$1` and following. */
export interface Sql {
  all<Row = SqlRow>(text: string, params?: readonly unknown[], plan?: Plan): Promise<Row[]>
  /** The number of rows that the statement changed. */
  run(text: string, params?: readonly unknown[]): Promise<number>
}

/** How a session reaches the database: its own connection, or one of a pooler that changes with each transaction. */
export type ConnectionMode = 'direct' | 'pooled'

/** `id`: what a database that crashes may give to another transaction. `since`: differs after a crash. */
export interface TransactionName {
  id: string
  since: string
}

/** Statistics begin anew after each crash, and are those of one server: a standby that takes over has others. */
export const upSince = '(pg_stat_get_archiver()).stats_reset::text'

const bigintType = 20
const goodbyeMs = 1_000

/** Of one text for all connections, so that a connection prepares each statement once. */
const names = new Map<string, string>()
/** Statements beyond these are not prepared. */
const maxNames = 400

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= maxNames) return undefined
  const name = `agentserve_${names.size}`
  names.set(text, name)
  return name
}

/** Parses bigint columns as numbers; everything else as the library does. */
export async function typesOf(): Promise<NonNullable<ClientConfig['types']>> {
  const { default: pg } = await import('pg')
  return {
    getTypeParser: ((oid: number, format?: 'text') =>
      oid === bigintType ? Number : pg.types.getTypeParser(oid, format)) as never,
  }
}

/** One connection. Calls run one after the other; a broken connection rejects them. */
export class Connection implements Sql {
  readonly client: Client | PoolClient
  readonly mode: ConnectionMode
  readonly #prelude: string
  readonly #onAnswer: () => void

  /** `prelude`: the settings that a pooled connection gets with each transaction. `onAnswer`: called when a statement succeeded. */
  constructor(client: Client | PoolClient, mode: ConnectionMode, prelude: string, onAnswer: () => void) {
    this.client = client
    this.mode = mode
    this.#prelude = prelude
    this.#onAnswer = onAnswer
  }

  async all<Row = SqlRow>(text: string, params: readonly unknown[] = [], plan?: Plan): Promise<Row[]> {
    return (await this.#query(text, params, plan)).rows as Row[]
  }

  async run(text: string, params: readonly unknown[] = []): Promise<number> {
    return (await this.#query(text, params)).rowCount ?? 0
  }

  /** Any number of statements without parameters. */
  async exec(text: string): Promise<void> {
    await this.client.query(text)
    this.#onAnswer()
  }

  async begin(options = ''): Promise<void> {
    await this.exec(this.mode === 'pooled' ? `BEGIN ${options}; ${this.#prelude}` : `BEGIN ${options}`)
  }

  /** Gives the name under which the database knows later whether the transaction was committed. */
  async beginWrite(): Promise<TransactionName> {
    const prelude = this.mode === 'pooled' ? `${this.#prelude};` : ''
    // One result for each statement, which the types of the library don't say.
    const results = (await this.client.query(
      `BEGIN; ${prelude} SELECT pg_current_xact_id()::text AS id, ${upSince} AS since`,
    )) as unknown as { rows: TransactionName[] }[]
    this.#onAnswer()
    return results.at(-1)?.rows[0] as TransactionName
  }

  /** A statement outside of `begin` and `exec('COMMIT')`; pooled connections need a transaction for their settings. */
  async alone<T>(use: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.mode === 'direct') return use(this)
    await this.begin()
    try {
      const value = await use(this)
      await this.exec('COMMIT')
      return value
    } catch (error) {
      await this.exec('ROLLBACK').catch(() => {})
      throw error
    }
  }

  /** Ends a connection that is not of a pool. */
  async close(): Promise<void> {
    if (!('end' in this.client)) return
    // A server that can't be reached says no goodbye.
    const timer = setTimeout(() => this.destroy(), goodbyeMs)
    await this.client.end()
    clearTimeout(timer)
  }

  /** Ends it at once, also when nothing answers any more. Statements under way are rejected. */
  destroy(): void {
    this.client.connection.stream.destroy()
  }

  async #query(text: string, values: readonly unknown[], plan?: Plan) {
    const name = this.mode === 'direct' && plan !== 'fresh' ? nameOf(text) : undefined
    const result = await this.client.query({ name, text, values: values as unknown[] })
    this.#onAnswer()
    return result
  }
}
