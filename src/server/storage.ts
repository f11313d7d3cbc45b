import type { PostgresStorage } from '../config/settings/postgres.ts'
import type { ResolvedConfig, ResolvedServerConfig } from '../config/types.ts'
import { AppError, isAppError } from '../core/error.ts'
import { createKnowledgeDrivers } from '../knowledge/drivers.ts'
import type { Manifest } from '../store/backup/manifest.ts'
import type { RestoreOptions } from '../store/backup/restore.ts'
import { explainRefusal } from '../store/postgres/refusal.ts'
import type { Counted, Examination } from '../store/sessions/postgres/upkeep/examine.ts'
import type { Prepared } from '../store/sessions/postgres/upkeep/prepare.ts'
import type { DatabaseStatus } from '../store/sessions/postgres/upkeep/status.ts'
import type { FileState, StorageFile } from '../store/upkeep/check.ts'
import { databaseOf, databaseOfKnowledge } from './database/database.ts'
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

/** Makes the tables that are missing, so that older servers go on working. Throws `unavailable` with what to do. */
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

/** Also changes what older servers need, unless one lives; waits for those that are silent. Throws like `prepareDatabase`. */
export function upgradeDatabase(config: ResolvedConfig, signal: AbortSignal): Promise<Prepared> {
  return explained(databaseIn(config), async (database) => {
    const { upgradeDatabase: upgrade } = await import('../store/sessions/postgres/upkeep/prepare.ts')
    return upgrade(database, signal)
  })
}

export interface Preparation {
  /** The statements, for a role that may make tables. */
  text: string
  /** Why they are for an empty database: the real one could not be asked. */
  unasked: string | undefined
}

/** What `prepareDatabase` would execute, or with `contracts` what `upgradeDatabase` would. Does not execute it. */
export async function preparationScript(config: ResolvedConfig, contracts: boolean): Promise<Preparation> {
  const database = databaseIn(config)
  const role = decodeURIComponent(new URL(database.url).username) || undefined
  const { preparationScript: script, wholeScript } = await import('../store/sessions/postgres/upkeep/prepare.ts')
  try {
    return { text: (await script(database, role, contracts)).text, unasked: undefined }
  } catch (error) {
    // The database can be used, but not by this version.
    if (isAppError(error) && error.cause === undefined) throw error
    return { text: wholeScript(database.schema, role), unasked: explainRefusal(error, database.place).message }
  }
}

function databaseIn({ server }: ResolvedConfig): PostgresStorage {
  const database = databaseOf(server.sessionStorage) ?? databaseOfKnowledge(server.vectorDb)
  if (database !== undefined) return database
  throw new AppError(
    'invalid_request',
    `${whereElse(server.sessionStorage)} \`agentserve storage\` is for sessions in Postgres: set server.storage, for example to { type: 'postgres' }.`,
  )
}

function whereElse(storage: ResolvedServerConfig['sessionStorage']): string {
  if (storage === 'memory') return 'The sessions are in memory, where nothing has to be prepared.'
  if (!('path' in storage)) return 'The sessions are in a store of your own.'
  return `The sessions are in the SQLite file ${storage.path}: a server or command that opens it makes and upgrades its tables, and keeps a copy of the earlier version. \`agentserve doctor\` shows its state.`
}

async function explained<T>(database: PostgresStorage, use: (database: PostgresStorage) => Promise<T>): Promise<T> {
  try {
    return await use(database)
  } catch (cause) {
    throw new AppError('unavailable', explainRefusal(cause, database.place).message, { cause })
  }
}
