import { stat } from 'node:fs/promises'
import { applicationIds } from '../sqlite/application.ts'
import { Connection, type SqlRow } from '../sqlite/connection.ts'

export type FileKind = keyof typeof applicationIds

export interface StorageFile {
  kind: FileKind
  path: string
}

export interface FileState extends StorageFile {
  /** `damaged`: not all of it can be read; `foreign`: no database, or another program's. */
  state: 'ok' | 'absent' | 'damaged' | 'foreign'
  /** SQLite's messages, shortest first; empty for a sound file. */
  problems: string[]
  /** Of the database, also what is in its log alone. */
  bytes: number
  /** Free bytes inside the file. */
  freeBytes: number
  /** Rows per table; only of a whole check. */
  counts: Record<string, number>
}

const countsOf: Record<FileKind, Record<string, string>> = {
  sessions: {
    sessions: 'SELECT count(*) AS n FROM sessions',
    runs: 'SELECT count(*) AS n FROM runs',
    files: 'SELECT count(*) AS n FROM files',
  },
  knowledge: {
    documents: 'SELECT count(*) AS n FROM document',
    chunks: 'SELECT coalesce(sum(chunk_count), 0) AS n FROM document',
  },
  search: {},
}
const busyTimeoutMs = 5_000
const problemsAtMost = 5

/** Checks a file without changing it, even while a server uses it. `whole` reads all of it. */
export async function checkFile({ kind, path }: StorageFile, whole: boolean): Promise<FileState> {
  const found = await stat(path).catch(() => undefined)
  const file: FileState = { kind, path, state: 'ok', problems: [], bytes: found?.size ?? 0, freeBytes: 0, counts: {} }
  // An empty file counts as absent.
  if (found === undefined || found.size === 0) return { ...file, state: 'absent' }
  let connection: Connection | undefined
  try {
    connection = await Connection.open({ path, readonly: true, busyTimeoutMs })
    const read = async (sql: string): Promise<SqlRow> => (await (connection as Connection).all(sql))[0] ?? {}
    const { application_id: application } = await read('PRAGMA application_id')
    if (application !== 0 && application !== applicationIds[kind]) {
      return { ...file, state: 'foreign', problems: ['it is the database of another program'] }
    }
    await read('SELECT count(*) FROM sqlite_schema')
    const { freelist_count: free } = await read('PRAGMA freelist_count')
    const { page_size: size } = await read('PRAGMA page_size')
    const { page_count: pages } = await read('PRAGMA page_count')
    file.freeBytes = Number(free) * Number(size)
    // Until a checkpoint, a new file has most of its pages in the log.
    file.bytes = Math.max(found.size, Number(pages) * Number(size))
    if (!whole) return file
    const problems = (await connection.all(`PRAGMA quick_check(${problemsAtMost})`)).map((row) =>
      String(row.quick_check),
    )
    if (problems[0] !== 'ok') return { ...file, state: 'damaged', problems }
    for (const [name, sql] of Object.entries(countsOf[kind])) {
      // An earlier version's database has no files.
      if (name === 'files' && (await read("SELECT 1 AS found FROM sqlite_schema WHERE name = 'files'")).found !== 1)
        continue
      file.counts[name] = Number((await read(sql)).n)
    }
    return file
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { ...file, state: code === 'SQLITE_NOTADB' ? 'foreign' : 'damaged', problems: [message] }
  } finally {
    await connection?.close().catch(() => {})
  }
}
