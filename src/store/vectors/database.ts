import type { Logger } from '../../core/logger.ts'
import type { Connection, Sql } from '../postgres/connection.ts'
import type { Limits } from '../postgres/settings.ts'

/** What lists of vectors need of a Postgres database. They share its connections with the documents. Errors are `AppError`s. */
export interface VectorDatabase {
  /** Makes the tables that are missing. Each call needs its own `close`. */
  open(): Promise<void>
  close(): Promise<void>
  /** Statements that change nothing; repeated after a lost connection. */
  readonly read: Sql
  /** The same for the nearest vectors. */
  readonly vectors: Sql
  /** `bulk`: what may take long, so that short works and signs of life don't wait for it. */
  work<T>(work: (sql: Sql) => Promise<T>, kind?: 'work' | 'bulk'): Promise<T>
  /** A transaction for what is under a generation that is not current yet. */
  owned<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * A connection for what no transaction can do, to be closed by the caller. Behind a pooler it has the limits of the role, unless
   * an address leads past it.
   */
  connect(purpose: string, limits: Limits): Promise<Connection>
  readonly schema: string
  readonly logger: Logger
}
