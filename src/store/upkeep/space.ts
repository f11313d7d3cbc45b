import { statfs } from 'node:fs/promises'
import { AppError } from '../../core/error.ts'

/** Other writes need room meanwhile. */
const marginBytes = 16 * 1024 * 1024

/** Throws `storage_full` unless so much can be written below the folder, which exists. `what` begins the sentence. */
export async function assertSpace(folder: string, bytes: number, what: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free >= bytes + marginBytes) return
  throw new AppError(
    'storage_full',
    `${what} needs ${toMegabytes(bytes + marginBytes)} MB, and ${toMegabytes(free)} MB are free in '${folder}': make room, or use another disk.`,
  )
}

function toMegabytes(bytes: number): string {
  return Math.ceil(bytes / 1024 ** 2).toLocaleString('en')
}
