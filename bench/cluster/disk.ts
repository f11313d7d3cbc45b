import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const sizeMb = 768

/** A disk of its own for Postgres, which can be filled. */
export interface SmallDisk {
  folder: string
  fill(): Promise<void>
  free(): Promise<void>
  remove(): Promise<void>
}

/** Undefined where a disk can't be mounted: that takes root on Linux. */
export async function mountSmallDisk(): Promise<SmallDisk | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', folder])
  } catch {
    await rm(folder, { recursive: true })
    return undefined
  }
  await chmod(folder, 0o711)
  const ballast = join(folder, 'ballast')
  return {
    folder,
    async fill() {
      const { bavail, bsize } = await statfs(folder)
      // The last bytes go to Postgres, or not: writeFile fails, and what it has written stays.
      await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch(() => undefined)
    },
    free: () => rm(ballast, { force: true }),
    async remove() {
      await run('umount', ['--lazy', folder])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
