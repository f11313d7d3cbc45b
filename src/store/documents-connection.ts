import { AppError } from '../core/error.ts'

export type Row = Record<string, unknown>

/** One SQLite connection as promises; statements run in the order in which they are awaited. */
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
  return {
    all: (sql, parameters = []) =>
      new Promise((resolve, reject) =>
        database.all(sql, parameters, (error: Error | null, rows: Row[]) =>
          error ? reject(translate(error)) : resolve(rows),
        ),
      ),
    run: (sql, parameters = []) =>
      new Promise((resolve, reject) =>
        database.run(sql, parameters, (error: Error | null) => (error ? reject(translate(error)) : resolve())),
      ),
    exec: (sql) =>
      new Promise((resolve, reject) => database.exec(sql, (error) => (error ? reject(translate(error)) : resolve()))),
    close: () =>
      new Promise((resolve, reject) => database.close((error) => (error ? reject(translate(error)) : resolve()))),
  }
}

function translate(error: Error): Error {
  const code = (error as Error & { code?: string }).code
  if (code === 'SQLITE_FULL')
    return new AppError('storage_full', 'The disk is full: the document was not stored.', { cause: error })
  return error
}
