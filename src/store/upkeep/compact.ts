import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Connection } from '../sqlite/connection.ts'
import { copyBytes } from '../sqlite/file-copy.ts'
import { assertSpace } from '../sqlite/space.ts'

const lookEveryMs = 100

/**
 * Rewrites a database without its free pages and replaces the file at the end. The caller owns the data folder and has
 * closed the file. Throws `storage_full` when there is no room for both.
 */
export async function compactFile(path: string, onProgress: (done: number, total: number) => void): Promise<void> {
  const total = await copyBytes(path)
  await assertSpace(dirname(path), total, `Rewriting '${path}'`)
  const part = `${path}.compact`
  for (const ending of ['', '-wal', '-shm', '-journal']) await rm(`${part}${ending}`, { force: true })
  await (await open(part, 'wx', 0o600)).close()
  const looking = setInterval(() => {
    stat(part).then(
      ({ size }) => onProgress(Math.min(size, total), total),
      () => {},
    )
  }, lookEveryMs)
  try {
    const connection = await Connection.open({ path, readonly: false, busyTimeoutMs: 0 })
    try {
      // The WAL of a killed process belongs to the old file and must not be applied to the new one.
      await connection.all('PRAGMA wal_checkpoint(TRUNCATE)')
      await connection.all('PRAGMA auto_vacuum = INCREMENTAL')
      await connection.run('VACUUM INTO ?', [part])
      await connection.all('PRAGMA journal_mode = DELETE')
    } finally {
      await connection.close()
    }
    const file = await open(part, 'r+')
    await file.sync().finally(() => file.close())
    await rename(part, path)
    onProgress(total, total)
  } finally {
    clearInterval(looking)
    await rm(part, { force: true })
  }
}
