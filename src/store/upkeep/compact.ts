import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Connection } from '../sqlite/connection.ts'
import { copyBytes } from '../sqlite/file-copy.ts'
import { assertSpace } from '../sqlite/space.ts'

const lookEveryMs = 100

/**
 * Writes a database anew without what is free in it, and puts that in its place when it is whole. The caller owns the data
 * folder: nobody else has the file open. Throws `storage_full` when there is no room for both.
 */
export async function compactFile(path: string, onProgress: (done: number, total: number) => void): Promise<void> {
  const total = await copyBytes(path)
  await assertSpace(dirname(path), total, `Writing '${path}' anew`)
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
      // The WAL of a process that was killed belongs to the old file: nothing of it may meet the new one.
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
