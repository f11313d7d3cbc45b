import type { Manifest } from '../store/backup/manifest.ts'
import type { RestoreOptions } from '../store/backup/restore.ts'

/* What commands do to the files of a data folder that no server has open. */

/** See store/backup/restore.ts. */
export async function restoreArchive(options: RestoreOptions): Promise<Manifest> {
  const { restoreArchive: restore } = await import('../store/backup/restore.ts')
  return restore(options)
}
