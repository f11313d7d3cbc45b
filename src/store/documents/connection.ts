import type { Statement } from 'sqlite3'
import { AppError } from '../../core/error.ts'

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
  const translate = translator(path)
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

const damaged = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB'])
const unusable = new Set(['SQLITE_CANTOPEN', 'SQLITE_IOERR', 'SQLITE_READONLY', 'SQLITE_PERM'])

/** Names the file and the way out where the trouble is the file's. */
function translator(path: string): (error: Error) => Error {
  return (error) => {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'SQLITE_FULL')
      return new AppError('storage_full', `The disk is full: nothing was stored in ${path}.`, { cause: error })
    if (damaged.has(code))
      return new AppError(
        'unavailable',
        `The knowledge base ${path} is damaged (${code}). Stop agentserve, move that file and those named ${path}-wal and ` +
          `${path}-shm away or restore them from a backup, and start again; then ingest the documents again.`,
        { cause: error },
      )
    if (unusable.has(code))
      return new AppError(
        'unavailable',
        `The knowledge base ${path} can't be read or written (${code}). Check the disk and the permissions of the file.`,
        { cause: error },
      )
    return error
  }
}
