import type { PostgresStorage } from '../config/settings/postgres.ts'
import type { ResolvedConfig } from '../config/types.ts'
import { AppError } from '../core/error.ts'
import { createKnowledgeDrivers } from '../knowledge/drivers.ts'
import type { Manifest } from '../store/backup/manifest.ts'
import type { RestoreOptions } from '../store/backup/restore.ts'
import { explainRefusal } from '../store/postgres/refusal.ts'
import type { Counted, Examination } from '../store/sessions/postgres/upkeep/examine.ts'
import type { Prepared } from '../store/sessions/postgres/upkeep/prepare.ts'
import type { DatabaseStatus } from '../store/sessions/postgres/upkeep/status.ts'
import type { FileState, StorageFile } from '../store/upkeep/check.ts'
import { databaseOf } from './database/database.ts'
import { ownerOf } from './folder/owner.ts'
import { foldersOf } from './folders.ts'

export type { Counted, Examination } from '../store/sessions/postgres/upkeep/examine.ts'
export type { Prepared } from '../store/sessions/postgres/upkeep/prepare.ts'
export type { DatabaseStatus } from '../store/sessions/postgres/upkeep/status.ts'
export type { FileState, StorageFile } from '../store/upkeep/check.ts'

/* Commands that work directly on the files of a data folder, or on the database, without a server. */

/** See store/backup/restore.ts. */
export async function restoreArchive(options: RestoreOptions): Promise<Manifest> {
  const { restoreArchive: restore } = await import('../store/backup/restore.ts')
  return restore(options)
}

/** The database files of the configuration, existing or not. */
export async function storageFiles(config: ResolvedConfig): Promise<StorageFile[]> {
  const { searchPathOf } = await import('../store/sessions/sqlite/search/search-file.ts')
  const { sessionStorage, vectorDb, embedding } = config.server
  const files: StorageFile[] = []
  if (typeof sessionStorage === 'object' && 'path' in sessionStorage) {
    files.push({ kind: 'sessions', path: sessionStorage.path })
    files.push({ kind: 'search', path: searchPathOf(sessionStorage.path) })
  }
  if (vectorDb?.type === 'lancedb') {
    const { dataFolder, root } = config
    const { documentsPath } = createKnowledgeDrivers({ vectorDb, embedding, dataFolder, root })
    files.push({ kind: 'knowledge', path: documentsPath })
  }
  return files
}

/** See store/upkeep/check.ts. */
export async function checkFile(file: StorageFile, whole: boolean): Promise<FileState> {
  const { checkFile: check } = await import('../store/upkeep/check.ts')
  return check(file, whole)
}

/** Compacts the existing files, one after the other, as the owner of the data folder. Throws `conflict`. */
export async function compactFiles(
  config: ResolvedConfig,
  files: readonly StorageFile[],
  onProgress: (path: string, done: number, total: number) => void,
): Promise<void> {
  const [{ lockDataFolder }, { compactFile }] = await Promise.all([
    import('../store/data-folder.ts'),
    import('../store/upkeep/compact.ts'),
  ])
  const locks: Awaited<ReturnType<typeof lockDataFolder>>[] = []
  try {
    const owner = ownerOf('doctor', Date.now())
    for (const folder of foldersOf(config, true))
      locks.push(await lockDataFolder(folder, folder === config.dataFolder ? owner : undefined))
    for (const { path } of files) await compactFile(path, (done, total) => onProgress(path, done, total))
  } finally {
    for (const lock of locks) await lock.release()
  }
}

/** Where the sessions are. Throws `invalid_request` unless that is a database. */
export function placeOfDatabase(config: ResolvedConfig): string {
  return databaseIn(config).place
}

/** See store/sessions/postgres/upkeep/status.ts. Throws `unavailable` with what to do. */
export function readDatabaseStatus(config: ResolvedConfig): Promise<DatabaseStatus> {
  return explained(databaseIn(config), async (database) => {
    const { readStatus } = await import('../store/sessions/postgres/upkeep/status.ts')
    return readStatus(database)
  })
}

/** Makes the tables that are missing. Throws `unavailable` with what to do. */
export function prepareDatabase(config: ResolvedConfig): Promise<Prepared> {
  return explained(databaseIn(config), async (database) => {
    const { prepareDatabase: prepare } = await import('../store/sessions/postgres/upkeep/prepare.ts')
    return prepare(database)
  })
}

/** See store/sessions/postgres/upkeep/examine.ts. Throws `unavailable` with what to do. */
export function examineDatabase(config: ResolvedConfig): Promise<Examination> {
  return explained(databaseIn(config), async (database) => {
    const { examineDatabase: examine } = await import('../store/sessions/postgres/upkeep/examine.ts')
    return examine(database)
  })
}

/** See store/sessions/postgres/upkeep/examine.ts. Throws `unavailable` with what to do. */
export function countDatabase(config: ResolvedConfig): Promise<Counted> {
  return explained(databaseIn(config), async (database) => {
    const { countDatabase: count } = await import('../store/sessions/postgres/upkeep/examine.ts')
    return count(database)
  })
}

/** The statements that make the tables, for a role that may. */
export async function preparationScript(config: ResolvedConfig): Promise<string> {
  const { schema, url } = databaseIn(config)
  const { preparationScript: script } = await import('../store/sessions/postgres/upkeep/prepare.ts')
  return script(schema, decodeURIComponent(new URL(url).username) || undefined)
}

function databaseIn({ server }: ResolvedConfig): PostgresStorage {
  const database = databaseOf(server.sessionStorage)
  if (database !== undefined) return database
  const message = "The sessions are not in a database. Set server.storage, for example to { type: 'postgres', url }."
  throw new AppError('invalid_request', message)
}

async function explained<T>(database: PostgresStorage, use: (database: PostgresStorage) => Promise<T>): Promise<T> {
  try {
    return await use(database)
  } catch (cause) {
    throw new AppError('unavailable', explainRefusal(cause, database.place).message, { cause })
  }
}
