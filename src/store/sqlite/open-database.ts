import { chmod, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../core/error.ts'
import { type Migration, migrations } from '../sessions/sqlite/schema/migrations.ts'
import { applicationIds, newFile } from './application.ts'
import { Connection } from './connection.ts'
import { keepVersion, removeOldVersions } from './version-copy.ts'

export type Synchronous = 'FULL' | 'NORMAL'

const busyTimeoutMs = 5_000
const walLimitBytes = 64 * 1024 * 1024

/** What every connection is set to and then asked for: builds and files bring defaults of their own. */
function pragmasOf(synchronous: Synchronous): Record<string, number> {
  return {
    busy_timeout: busyTimeoutMs,
    synchronous: synchronous === 'FULL' ? 2 : 1,
    foreign_keys: 1,
    wal_autocheckpoint: 0,
    journal_size_limit: walLimitBytes,
    temp_store: 2,
    cache_size: -16_000,
    recursive_triggers: 0,
    trusted_schema: 0,
    secure_delete: 1,
  }
}

/** Makes the file (0600) and its folder (0700) when they are not there, and leads it to the present version, after a copy of an earlier one. */
export async function prepareDatabase(path: string, steps: readonly Migration[] = migrations): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'a', 0o600)
  await file.close()
  await chmod(path, 0o600)
  const { version, application } = await readIdentity(path)
  if (application !== 0 && application !== applicationIds.sessions) {
    throw new AppError(
      'unavailable',
      `'${path}' is not a session database: another program or another part of agentserve wrote it. It was left untouched: name another file.`,
    )
  }
  if (version > steps.length) {
    throw new AppError(
      'unavailable',
      `The session database '${path}' was written by a newer agentserve (version ${version}, this one knows ${steps.length}). It was left untouched: update agentserve, or name another file.`,
    )
  }
  if (version > 0 && version < steps.length) await keepVersion(path, version)
  else await removeOldVersions(path)
  if (version === steps.length && application !== 0) return
  if (version === 0) await execute(path, newFile)
  const connection = await openConnection(path, 'FULL')
  try {
    if (application === 0) await connection.exec(`PRAGMA application_id = ${applicationIds.sessions}`)
    for (let next = version; next < steps.length; next++) await migrate(connection, steps[next], next + 1)
  } finally {
    await connection.close()
  }
}

async function readIdentity(path: string): Promise<{ version: number; application: number }> {
  const connection = await Connection.open({ path, readonly: true, busyTimeoutMs })
  try {
    const [version] = await connection.all('PRAGMA user_version')
    const [application] = await connection.all('PRAGMA application_id')
    return { version: Number(version?.user_version), application: Number(application?.application_id) }
  } finally {
    await connection.close()
  }
}

async function execute(path: string, sql: string): Promise<void> {
  const connection = await Connection.open({ path, readonly: false, busyTimeoutMs })
  try {
    await connection.exec(sql)
  } finally {
    await connection.close()
  }
}

async function migrate(connection: Connection, step: Migration | undefined, version: number): Promise<void> {
  if (step === undefined) return
  try {
    await connection.exec(`BEGIN IMMEDIATE;\n${step.sql}\n;PRAGMA user_version = ${version};\nCOMMIT;`)
  } catch (error) {
    await connection.exec('ROLLBACK').catch(() => {})
    throw error
  }
}

/** A connection with every PRAGMA set and verified; a reader can't write. */
export async function openConnection(path: string, synchronous: Synchronous, readonly = false): Promise<Connection> {
  const connection = await Connection.open({ path, readonly, busyTimeoutMs })
  try {
    const [mode] = await connection.all(readonly ? 'PRAGMA journal_mode' : 'PRAGMA journal_mode = WAL')
    assertPragma('journal_mode', mode?.journal_mode, 'wal')
    for (const [name, value] of Object.entries(pragmasOf(synchronous))) {
      await connection.all(`PRAGMA ${name} = ${value}`)
      const [row] = await connection.all(`PRAGMA ${name}`)
      assertPragma(name, Object.values(row ?? {})[0], value)
    }
    if (readonly) await connection.all('PRAGMA query_only = 1')
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
