import sqlite3 from 'sqlite3'
import { createSerial } from '../../runtime/serial.ts'

/**
 * Maximum size of a value in bytes. Beyond V8's longest string (512 MB) the binding throws where no caller can catch
 * it; with this limit SQLite returns SQLITE_TOOBIG.
 */
const maxValueBytes = 500_000_000

export type SqlValue = string | number | null
export type SqlRow = Record<string, SqlValue>

export interface OpenOptions {
  path: string
  readonly: boolean
  busyTimeoutMs: number
  /** Maximum number of prepared statements; the least recently used is closed. Default: no limit. */
  maxStatements?: number | undefined
}

/**
 * One connection with promises and a cache of prepared statements. Calls run one after the other. Uses only `all`,
 * `run` and `exec` of the library: its `get` leaves the read transaction open.
 */
export class Connection {
  readonly #database: sqlite3.Database
  readonly #maxStatements: number
  /** In order of last use if their number is limited, else of first use. */
  readonly #statements = new Map<string, sqlite3.Statement>()
  readonly #queue = createSerial()

  private constructor(database: sqlite3.Database, maxStatements: number) {
    this.#database = database
    this.#maxStatements = maxStatements
  }

  static open({ path, readonly, busyTimeoutMs, maxStatements = Infinity }: OpenOptions): Promise<Connection> {
    const mode = (readonly ? sqlite3.OPEN_READONLY : sqlite3.OPEN_READWRITE) | sqlite3.OPEN_FULLMUTEX
    return new Promise((resolve, reject) => {
      const database = new sqlite3.Database(path, mode, (error) => {
        if (error) return reject(error)
        database.configure('busyTimeout', busyTimeoutMs)
        database.configure('limit', sqlite3.LIMIT_LENGTH, maxValueBytes)
        resolve(new Connection(database, maxStatements))
      })
    })
  }

  all<Row = SqlRow>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#queue.run(async () => {
      const statement = this.#find(sql) ?? (await this.#prepare(sql))
      return new Promise<Row[]>((resolve, reject) => {
        statement.all<Row>(params, (error, rows) => (error ? reject(error) : resolve(rows)))
      })
    })
  }

  /** The number of rows that the statement changed, without those of triggers. */
  run(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    return this.#queue.run(async () => {
      const statement = this.#find(sql) ?? (await this.#prepare(sql))
      return new Promise<number>((resolve, reject) => {
        statement.run(params, function (error) {
          if (error) reject(error)
          else resolve(this.changes)
        })
      })
    })
  }

  /** As `run`, for large parameters: a cached statement keeps a copy of them until its next use. */
  runOnce(sql: string, params: readonly (SqlValue | Uint8Array)[]): Promise<void> {
    return this.#queue.run(
      () =>
        new Promise<void>((resolve, reject) => {
          this.#database.run(sql, params, (error) => (error ? reject(error) : resolve()))
        }),
    )
  }

  /** Any number of statements without parameters. */
  exec(sql: string): Promise<void> {
    return this.#queue.run(
      () =>
        new Promise<void>((resolve, reject) => {
          this.#database.exec(sql, (error) => (error ? reject(error) : resolve()))
        }),
    )
  }

  async close(): Promise<void> {
    await this.#queue.idle()
    for (const statement of this.#statements.values()) await finalize(statement)
    this.#statements.clear()
    await new Promise<void>((resolve, reject) => {
      this.#database.close((error) => (error ? reject(error) : resolve()))
    })
  }

  #find(sql: string): sqlite3.Statement | undefined {
    const statement = this.#statements.get(sql)
    if (statement !== undefined && this.#maxStatements !== Infinity) {
      this.#statements.delete(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  async #prepare(sql: string): Promise<sqlite3.Statement> {
    const prepared = await new Promise<sqlite3.Statement>((resolve, reject) => {
      const statement = this.#database.prepare(sql, (error) => (error ? reject(error) : resolve(statement)))
    })
    this.#statements.set(sql, prepared)
    if (this.#statements.size > this.#maxStatements) {
      const [oldest] = this.#statements
      if (oldest !== undefined) {
        this.#statements.delete(oldest[0])
        await finalize(oldest[1])
      }
    }
    return prepared
  }
}

function finalize(statement: sqlite3.Statement): Promise<void> {
  return new Promise((resolve) => statement.finalize(() => resolve()))
}
