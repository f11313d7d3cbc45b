import type { applicationIds } from './application.ts'
import type { Connection } from './connection.ts'

/** A step from one version of a file to the next; its place in the list, from 1, is the version it leads to. */
export interface Migration {
  name: string
  /** As text, or made from what is in the file. */
  sql: string | ((connection: Pick<Connection, 'all'>) => Promise<string>)
}

/** What a kind of database file is made of. */
export interface DatabaseKind {
  /** What errors call it. */
  name: string
  applicationId: (typeof applicationIds)[keyof typeof applicationIds]
  migrations: readonly Migration[]
  /** Of a new file; default: SQLite's. */
  pageBytes?: number
  /** Those that differ between kinds of files. */
  pragmas: Readonly<Record<'cache_size' | 'wal_autocheckpoint', number>>
  /** Default: all. */
  maxStatements?: number
}
