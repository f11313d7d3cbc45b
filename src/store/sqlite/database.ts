import type { applicationIds } from './application.ts'
import type { Connection } from './connection.ts'

/** A step from one version to the next. Its position in the list, from 1, is the version it leads to. */
export interface Migration {
  name: string
  /** SQL, or a function that makes it from the file's content. */
  sql: string | ((connection: Pick<Connection, 'all'>) => Promise<string>)
}

export interface DatabaseKind {
  name: string
  applicationId: (typeof applicationIds)[keyof typeof applicationIds]
  migrations: readonly Migration[]
  /** For a new file; default: SQLite's. */
  pageBytes?: number
  /** The pragmas that differ between kinds of files. */
  pragmas: Readonly<Record<'cache_size' | 'wal_autocheckpoint', number>>
  /** `cache_size` of connections that only read; default: that of `pragmas`. */
  readerCacheSize?: number
  /** Default: no limit. */
  maxStatements?: number
}
