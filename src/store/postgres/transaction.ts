import { type Connection, type Sql, type TransactionName, upSince } from './connection.ts'
import { classify } from './failure.ts'

export async function inTransaction<T>(
  connection: Connection,
  work: (sql: Sql) => Promise<T>,
  options?: string,
): Promise<T> {
  try {
    await connection.begin(options)
    const value = await work(connection)
    await connection.exec('COMMIT')
    return value
  } catch (error) {
    await undo(connection)
    throw error
  }
}

/** The same for one that writes. Throws `LostCommit` when the answer to COMMIT was lost. */
export async function inWrite<T>(connection: Connection, work: (sql: Sql) => Promise<T>): Promise<T> {
  let committing: { transaction: TransactionName; value: T } | undefined
  try {
    const transaction = await connection.beginWrite()
    const value = await work(connection)
    committing = { transaction, value }
    await connection.exec('COMMIT')
    return value
  } catch (error) {
    await undo(connection)
    if (committing === undefined || classify(error) !== 'away') throw error
    throw new LostCommit(committing.transaction, committing.value, error)
  }
}

/** Nobody knows yet whether the transaction was committed. */
export class LostCommit extends Error {
  // As after any other loss of a connection.
  readonly code = '08006'
  readonly transaction: TransactionName
  /** What the transaction gave, if it was committed. */
  readonly value: unknown

  constructor(transaction: TransactionName, value: unknown, cause: unknown) {
    super('The connection broke before the database said whether the transaction was committed.', { cause })
    this.transaction = transaction
    this.value = value
  }
}

/** What the database knows of a transaction; null when it has forgotten it, or may mean another of the same id. */
export async function statusOf(
  sql: Sql,
  { id, since }: TransactionName,
): Promise<'committed' | 'aborted' | 'in progress' | null> {
  try {
    const [row] = await sql.all<{ status: Awaited<ReturnType<typeof statusOf>>; since: string }>(
      `SELECT pg_xact_status($1::text::xid8) AS status, ${upSince} AS since`,
      [id],
    )
    return row?.since === since || row?.status === 'aborted' ? row.status : null
  } catch (error) {
    // An id of the future: a crash undid its transaction.
    if ((error as { code?: unknown }).code === '22023') return 'aborted'
    throw error
  }
}

/** The error before it is the one to tell; a broken connection undoes its transaction by itself. */
async function undo(connection: Connection): Promise<void> {
  await connection.exec('ROLLBACK').catch(() => {})
}
