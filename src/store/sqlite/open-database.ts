import { existsSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../core/error.ts'
import { newFile } from './application.ts'
import { Connection } from './connection.ts'
import type { DatabaseKind } from './database.ts'
import { inTransaction } from './transaction.ts'
import { keepVersion, removeOldVersions } from './version-copy.ts'

export type Synchronous = 'FULL' | 'NORMAL'

export const inMemory = ':memory:'

const busyTimeoutMs = 5_000
const walLimitBytes = 64 * 1024 * 1024

/** Set and verified on every connection, because builds and files have other defaults. */
function pragmasOf(kind: DatabaseKind, synchronous: Synchronous, readonly: boolean) {
  return {
    busy_timeout: busyTimeoutMs,
    synchronous: synchronous === 'FULL' ? 2 : 1,
    foreign_keys: 1,
    journal_size_limit: walLimitBytes,
    temp_store: 2,
    recursive_triggers: 0,
    trusted_schema: 0,
    secure_delete: 1,
    ...kind.pragmas,
    ...(readonly && kind.readerCacheSize !== undefined && { cache_size: kind.readerCacheSize }),
  }
}

/**
 * Opens the database for writing. Creates the file (0600) and its folder (0700) if missing, and migrates it after a
 * copy of the earlier version. Throws `unavailable` for a file of another program or of a newer version.
 */
export async function openDatabase(
  path: string,
  kind: DatabaseKind,
  synchronous: Synchronous = 'FULL',
): Promise<Connection> {
  if (path === inMemory) return migrate(await openConnection(path, kind), kind, unwritten)
  const isEmpty = await makePrivateFile(path)
  const found = isEmpty ? unwritten : await readIdentity(path)
  assertKnown(path, kind, found)
  const isNew = found.version === 0
  if (!isNew && found.version < kind.migrations.length) await keepVersion(path, found.version)
  else await removeOldVersions(path)
  if (isNew) await setUpNew(path, kind)
  return migrate(await openConnection(path, kind, synchronous), kind, found)
}

/** Whether nothing was ever written to it. */
async function makePrivateFile(path: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'a', 0o600)
  try {
    await file.chmod(0o600)
    return (await file.stat()).size === 0 && !existsSync(`${path}-wal`)
  } finally {
    await file.close()
  }
}

interface Identity {
  version: number
  application: number
}

const unwritten: Identity = { version: 0, application: 0 }

function assertKnown(path: string, { name, applicationId, migrations }: DatabaseKind, found: Identity): void {
  if (found.application !== 0 && found.application !== applicationId) {
    throw new AppError(
      'unavailable',
      `'${path}' is not a ${name}: another program or another part of agentserve wrote it. It was left untouched: name another file.`,
    )
  }
  if (found.version > migrations.length) {
    throw new AppError(
      'unavailable',
      `The ${name} '${path}' was written by a newer agentserve (version ${found.version}, this one knows ${migrations.length}). It was left untouched: update agentserve, or name another file.`,
    )
  }
}

async function readIdentity(path: string): Promise<Identity> {
  const connection = await Connection.open({ path, readonly: true, busyTimeoutMs })
  try {
    const [version] = await connection.all('PRAGMA user_version')
    const [application] = await connection.all('PRAGMA application_id')
    return { version: Number(version?.user_version), application: Number(application?.application_id) }
  } finally {
    await connection.close()
  }
}

async function setUpNew(path: string, { pageBytes }: DatabaseKind): Promise<void> {
  const connection = await Connection.open({ path, readonly: false, busyTimeoutMs })
  try {
    await connection.exec(`${pageBytes === undefined ? '' : `PRAGMA page_size = ${pageBytes};`} ${newFile}`)
  } finally {
    await connection.close()
  }
}

async function migrate(connection: Connection, kind: DatabaseKind, found: Identity): Promise<Connection> {
  try {
    const step = async (index: number) => {
      const sql = kind.migrations[index]?.sql ?? ''
      const text = typeof sql === 'string' ? sql : await sql(connection)
      await connection.exec(`${text}\n;PRAGMA user_version = ${index + 1}`)
    }
    const pending = [...kind.migrations.keys()].slice(found.version)
    // A new file takes one commit. In a large one each step has its own, which bounds the WAL.
    const commits = found.version === 0 ? [pending] : pending.map((index) => [index])
    if (found.application === 0) await connection.exec(`PRAGMA application_id = ${kind.applicationId}`)
    for (const indexes of commits) {
      await inTransaction(connection, async () => {
        for (const index of indexes) await step(index)
      })
    }
    return connection
  } catch (error) {
    await connection.close().catch(() => {})
    throw error
  }
}

/** Another connection to a database that `openDatabase` has opened; a reader can't write. */
export async function openConnection(
  path: string,
  kind: DatabaseKind,
  synchronous: Synchronous = 'FULL',
  readonly = false,
): Promise<Connection> {
  const connection = await Connection.open({ path, readonly, busyTimeoutMs, maxStatements: kind.maxStatements })
  try {
    if (path !== inMemory) {
      const [mode] = await connection.all(readonly ? 'PRAGMA journal_mode' : 'PRAGMA journal_mode = WAL')
      assertPragma('journal_mode', mode?.journal_mode, 'wal')
    }
    const { wal_autocheckpoint, ...rest } = pragmasOf(kind, synchronous, readonly)
    const pragmas = Object.entries(rest)
    const readOnly = readonly ? ' PRAGMA query_only = 1;' : ''
    await connection.exec(pragmas.map(([name, value]) => `PRAGMA ${name} = ${value};`).join(' ') + readOnly)
    // In one statement: a start opens many connections, and each statement is a trip to the thread pool.
    const columns = pragmas.map(([name]) => `(SELECT * FROM pragma_${name}) AS ${name}`)
    const [row] = await connection.all(`SELECT ${columns.join(', ')}`)
    for (const [name, value] of pragmas) assertPragma(name, row?.[name], value)
    // The only one that no SELECT can read.
    const [auto] = await connection.all(`PRAGMA wal_autocheckpoint = ${wal_autocheckpoint}`)
    assertPragma('wal_autocheckpoint', auto?.wal_autocheckpoint, wal_autocheckpoint)
    return connection
  } catch (error) {
    await connection.close().catch(() => {})
    throw error
  }
}

function assertPragma(name: string, actual: unknown, wanted: unknown): void {
  if (actual === wanted) return
  throw new AppError('unavailable', `SQLite did not accept ${name} = ${String(wanted)}; it says ${String(actual)}.`)
}
