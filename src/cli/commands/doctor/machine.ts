import { statfs } from 'node:fs/promises'
import { shownBytes } from '../../../core/limits.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

const neededNode = [22, 19] as const
const littleBytes = 1024 ** 3
const tooLittleBytes = 100 * 1024 ** 2

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [minMajor, minMinor] = neededNode
  const isEnough = major > minMajor || (major === minMajor && minor >= minMinor)
  if (isEnough) return ok('node', `Node ${version}`)
  return wrong('node', `Node ${version} is too old`, `install Node ${neededNode.join('.')} or newer`)
}

/** Whether a library with native code loads; that is never bundled. */
export async function checkLibrary(
  name: string,
  what: string,
  load: () => Promise<unknown> = () => import(/* @vite-ignore */ name),
): Promise<Finding> {
  try {
    await load()
    return ok('library', `${name} loads (${what})`)
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    return wrong('library', `${name} does not load (${what}): ${reason}`, 'run npm rebuild, or npm install again')
  }
}

/** `folder` must exist. */
export async function checkDisk(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const message = `${shownBytes(free)} are free`
  const fix = 'free some space, or move the data folder and name it with --data'
  if (free < tooLittleBytes) return wrong('disk', message, fix)
  return free < littleBytes ? warning('disk', message, fix) : ok('disk', message)
}
