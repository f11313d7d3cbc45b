import type { ResolvedConfig } from '../config/types.ts'
import { createKnowledgeDrivers } from '../knowledge/drivers.ts'
import type { Manifest } from '../store/backup/manifest.ts'
import type { RestoreOptions } from '../store/backup/restore.ts'
import type { FileState, StorageFile } from '../store/upkeep/check.ts'
import { foldersOf } from './folders.ts'

export type { FileState, StorageFile } from '../store/upkeep/check.ts'

/* Commands that work directly on the files of a data folder, without a server. */

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
    for (const folder of foldersOf(config, true)) locks.push(await lockDataFolder(folder))
    for (const { path } of files) await compactFile(path, (done, total) => onProgress(path, done, total))
  } finally {
    for (const lock of locks) await lock.release()
  }
}
