import type { Statement } from 'sqlite3'
import { AppError } from '../core/error.ts'

export type Row = Record<string, unknown>

/** Of a longer one than V8's longest string the binding would throw where nobody can catch it. */
const longestValue = 500_000_000
/** Of the queries, each with as many filters as it may have. */
const preparedAtMost = 100

/**
 * One SQLite connection as promises; statements run in the order in which they are awaited. The statements of `all` stay
 * prepared.
 */
export interface Connection {
  all(sql: string, parameters?: readonly unknown[]): Promise<Row[]>
  run(sql: string, parameters?: readonly unknown[]): Promise<void>
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

/** Opens the file, made when it is not there. sqlite3 is loaded here, on first use. */
export async function openConnection(path: string): Promise<Connection> {
  const { default: sqlite3 } = await import('sqlite3')
  const database = await new Promise<InstanceType<typeof sqlite3.Database>>((resolve, reject) => {
    const opening = new sqlite3.Database(path, (error) => (error ? reject(translate(error)) : resolve(opening)))
  })
  database.configure('limit', sqlite3.LIMIT_LENGTH, longestValue)
  const prepared = new Map<string, Promise<Statement>>()
  const prepare = (sql: string): Promise<Statement> => {
    const known = prepared.get(sql)
    const statement =
      known ??
      new Promise<Statement>((resolve, reject) => {
        const preparing = database.prepare(sql, (error: Error | null) =>
          error ? reject(translate(error)) : resolve(preparing),
        )
      })
    prepared.delete(sql)
    prepared.set(sql, statement)
    if (known) return statement
    statement.catch(() => prepared.delete(sql))
    const [oldest] = prepared
    if (oldest && prepared.size > preparedAtMost) void forget(...oldest)
    return statement
  }
  const forget = async (sql: string, statement: Promise<Statement>): Promise<void> => {
    prepared.delete(sql)
    const unneeded = await statement.catch(() => undefined)
    await new Promise<void>((resolve) => (unneeded ? unneeded.finalize(() => resolve()) : resolve()))
  }
  return {
    async all(sql, parameters = []) {
      const statement = await prepare(sql)
      return new Promise((resolve, reject) =>
        statement.all(parameters, (error: Error | null, rows: Row[]) =>
          error ? reject(translate(error)) : resolve(rows),
        ),
      )
    },
    run: (sql, parameters = []) =>
      new Promise((resolve, reject) =>
        database.run(sql, parameters, (error: Error | null) => (error ? reject(translate(error)) : resolve())),
      ),
    exec: (sql) =>
      new Promise((resolve, reject) => database.exec(sql, (error) => (error ? reject(translate(error)) : resolve()))),
    async close() {
      for (const each of prepared) await forget(...each)
      await new Promise<void>((resolve, reject) =>
        database.close((error) => (error ? reject(translate(error)) : resolve())),
      )
    },
  }
}

function translate(error: Error): Error {
  const code = (error as Error & { code?: string }).code
  if (code === 'SQLITE_FULL')
    return new AppError('storage_full', 'The disk is full: the document was not stored.', { cause: error })
  return error
}
