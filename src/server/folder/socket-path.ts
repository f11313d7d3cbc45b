import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, mkdtemp, unlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The kernel takes 108 bytes on Linux and 104 on macOS, and would cut off the rest. */
const maxBytes = 100

/**
 * Where the owner of a data folder can listen: `agentserve.sock` there, or in a folder of the user's below the temporary one when
 * that path is too long, is somebody else's, or the file system has no sockets. Removes the socket that an earlier owner has left.
 */
export async function freeSocketPath(dataFolder: string): Promise<string> {
  // Nobody can take the name of a pipe before us when nobody knows it.
  if (process.platform === 'win32') return `\\\\.\\pipe\\agentserve-${randomBytes(16).toString('hex')}`
  const inside = join(dataFolder, 'agentserve.sock')
  if (await isFree(inside)) return inside
  const name = `${createHash('sha256').update(dataFolder).digest('hex').slice(0, 16)}.sock`
  for (const parent of [tmpdir(), '/tmp']) {
    const path = join(parent, `agentserve-${process.geteuid?.()}`, name)
    if (Buffer.byteLength(path) > maxBytes || !(await isPrivate(join(path, '..')))) continue
    if (await isFree(path)) return path
  }
  return join(await mkdtemp('/tmp/agentserve-'), name)
}

async function isFree(path: string): Promise<boolean> {
  if (Buffer.byteLength(path) > maxBytes) return false
  const there = await lstat(path).catch(() => undefined)
  if (there !== undefined) {
    if (!there.isSocket() || there.uid !== process.geteuid?.()) return false
    await unlink(path)
  }
  return canListen(path)
}

function canListen(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(path, () => probe.close(() => resolve(true)))
  })
}

/** Makes the folder; false when others may use it. */
async function isPrivate(folder: string): Promise<boolean> {
  await mkdir(folder, { mode: 0o700 }).catch(() => {})
  const there = await lstat(folder).catch(() => undefined)
  return there?.isDirectory() === true && there.uid === process.geteuid?.() && (there.mode & 0o077) === 0
}
