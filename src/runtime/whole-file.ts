import { randomUUID } from 'node:crypto'
import { chmod, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { AppError } from '../core/error.ts'

/** Whether a write failed because the disk, or the user's share of it, is used up. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOSPC' || code === 'EDQUOT'
}

export function fullDisk(path: string, cause: unknown): AppError {
  return new AppError('storage_full', `The disk of '${path}' is full. Free some space.`, { cause })
}

/** Writes a new file, or none. Throws `EEXIST` if there is one. */
export async function writeNewFile(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(data)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Writes the file, new or not; when that fails, an earlier one stays as it was. A link stays a link, a device a device. */
export async function replaceFile(path: string, data: string | Uint8Array): Promise<void> {
  const place = await realpath(path).catch(() => path)
  const earlier = await stat(place).catch(() => undefined)
  if (earlier !== undefined && !earlier.isFile()) return writeFile(place, data)
  const draft = `${place}.${randomUUID().slice(0, 8)}.part`
  try {
    // Never readable by more than the earlier one.
    await writeFile(draft, data, { flag: 'wx', mode: earlier === undefined ? 0o666 : earlier.mode & 0o777 })
    if (earlier !== undefined) await chmod(draft, earlier.mode)
    await rename(draft, place)
  } finally {
    await rm(draft, { force: true })
  }
}
