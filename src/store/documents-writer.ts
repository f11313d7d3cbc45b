import type { Connection } from './documents-connection.ts'

export type Reader = Pick<Connection, 'all' | 'close'>

/** The one connection that writes: transactions run one after another, each whole or not at all. */
export interface Writer {
  /** Reads between the transactions on the same connection, for a database that only one connection can see. */
  readonly reader: Reader
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** When all that was asked for is done. */
  idle(): Promise<void>
  close(): Promise<void>
}

export function openWriter(connection: Connection): Writer {
  let last: Promise<unknown> = Promise.resolve()
  const runTransaction = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    await connection.run('BEGIN IMMEDIATE')
    try {
      const result = await work(connection)
      await connection.run('COMMIT')
      return result
    } catch (error) {
      // SQLite may have rolled back by itself (disk full), then there is nothing left to undo.
      await connection.run('ROLLBACK').catch(() => undefined)
      throw error
    }
  }
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    reader: {
      all: (sql, parameters) => inTurn(() => connection.all(sql, parameters)),
      close: async () => {},
    },
    transaction: (work) => inTurn(() => runTransaction(work)),
    idle: async () => {
      await last
    },
    close: () => connection.close(),
  }
}
