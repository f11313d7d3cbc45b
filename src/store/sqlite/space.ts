import { open, rm, statfs } from 'node:fs/promises'
import { AppError } from '../../core/error.ts'
import { shownBytes } from '../../core/limits.ts'
import type { WriteConnection } from '../upkeep/shrinking.ts'

/** Space left for other writes. */
const marginBytes = 16 * 1024 * 1024

/** Throws `storage_full` unless the existing folder has room for `bytes`. `what` begins the error's sentence. */
export async function assertSpace(folder: string, bytes: number, what: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free >= bytes + marginBytes) return
  throw new AppError(
    'storage_full',
    `${what} needs ${shownBytes(bytes + marginBytes)}, but only ${shownBytes(free)} are free in '${folder}'. Free some space, or use another disk.`,
  )
}

const probeBytes = 1024 * 1024

/** Writes one megabyte beside the file and deletes it. Throws `storage_full` when the disk is full. */
export async function probeSpace(path: string): Promise<void> {
  const probe = `${path}.probe`
  try {
    const file = await open(probe, 'w', 0o600)
    try {
      await file.write(Buffer.alloc(probeBytes))
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw new AppError('storage_full', `The disk that holds '${path}' is full.`, { cause: error })
  } finally {
    await rm(probe, { force: true })
  }
}

/** Writes a page of the database unchanged. */
export async function writeAgain(writer: WriteConnection): Promise<void> {
  const [row] = await writer.all('PRAGMA user_version')
  await writer.all(`PRAGMA user_version = ${Number(row?.user_version)}`)
}
