import sqlite3 from 'sqlite3'

/**
 * No value is longer than that: of one beyond V8's longest string (512 MB) the binding would throw where nobody can catch
 * it. SQLite says SQLITE_TOOBIG instead.
 */
const longestValue = 500_000_000

/** What SQLite takes and gives as a value here. */
export type SqlValue = string | number | null
export type SqlRow = Record<string, SqlValue>

export interface OpenOptions {
  path: string
  readonly: boolean
  /** How long a statement waits for another process's lock. */
  busyTimeoutMs: number
}

/**
 * One connection with promises and a cache of prepared statements. Calls run one after the other. Only `all`, `run` and
 * `exec` of the library are used: its `get` leaves the read transaction open.
 */
export class Connection {
  readonly #database: sqlite3.Database
  readonly #statements = new Map<string, Promise<sqlite3.Statement>>()
  #last: Promise<unknown> = Promise.resolve()

  private constructor(database: sqlite3.Database) {
    this.#database = database
  }

  static open({ path, readonly, busyTimeoutMs }: OpenOptions): Promise<Connection> {
    const mode = (readonly ? sqlite3.OPEN_READONLY : sqlite3.OPEN_READWRITE) | sqlite3.OPEN_FULLMUTEX
    return new Promise((resolve, reject) => {
      const database = new sqlite3.Database(path, mode, (error) => {
        if (error) return reject(error)
        database.configure('busyTimeout', busyTimeoutMs)
        database.configure('limit', sqlite3.LIMIT_LENGTH, longestValue)
        resolve(new Connection(database))
      })
    })
  }

  all(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#inTurn(async () => {
      const statement = await this.#prepare(sql)
      return new Promise<SqlRow[]>((resolve, reject) => {
        statement.all<SqlRow>(params, (error, rows) => (error ? reject(error) : resolve(rows)))
      })
    })
  }

  /** Gives the number of rows that the statement changed itself. */
  run(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    return this.#inTurn(async () => {
      const statement = await this.#prepare(sql)
      return new Promise<number>((resolve, reject) => {
        statement.run(params, function (error) {
          if (error) reject(error)
          else resolve(this.changes)
        })
      })
    })
  }

  /** Any number of statements without parameters. */
  exec(sql: string): Promise<void> {
    return this.#inTurn(
      () =>
        new Promise<void>((resolve, reject) => {
          this.#database.exec(sql, (error) => (error ? reject(error) : resolve()))
        }),
    )
  }

  async close(): Promise<void> {
    await this.#last
    for (const prepared of this.#statements.values()) {
      const statement = await prepared.catch(() => undefined)
      if (statement) await new Promise<void>((resolve) => statement.finalize(() => resolve()))
    }
    this.#statements.clear()
    await new Promise<void>((resolve, reject) => {
      this.#database.close((error) => (error ? reject(error) : resolve()))
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }

  #prepare(sql: string): Promise<sqlite3.Statement> {
    let prepared = this.#statements.get(sql)
    if (prepared === undefined) {
      prepared = new Promise((resolve, reject) => {
        const statement = this.#database.prepare(sql, (error) => (error ? reject(error) : resolve(statement)))
      })
      prepared.catch(() => this.#statements.delete(sql))
      this.#statements.set(sql, prepared)
    }
    return prepared
  }
}
