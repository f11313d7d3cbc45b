import { AppError } from '../../core/error.ts'
import { startGit } from './git.ts'

const readTimeoutMs = 3_600_000

/** Reads files of a repository by their ids, one at a time, from one process of git. */
export function createBlobReader(folder: string, signal: AbortSignal) {
  const child = startGit(['cat-file', '--batch'], { folder, signal, timeoutMs: readTimeoutMs })
  const pieces = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let buffered: Buffer = Buffer.alloc(0)
  const more = async () => {
    const { done, value } = await pieces.next()
    if (!done) return value
    await child.ended
    throw new AppError('unavailable', 'git ended before the files were read.')
  }
  const take = async (bytes: number): Promise<Buffer> => {
    const parts = [buffered]
    let length = buffered.length
    while (length < bytes) {
      const next = await more()
      parts.push(next)
      length += next.length
    }
    const all = Buffer.concat(parts)
    buffered = all.subarray(bytes)
    return all.subarray(0, bytes)
  }
  const takeLine = async (): Promise<string> => {
    while (!buffered.includes(10)) buffered = Buffer.concat([buffered, await more()])
    return (await take(buffered.indexOf(10) + 1)).toString('latin1')
  }
  return {
    async read(id: string): Promise<Buffer> {
      child.stdin.write(`${id}\n`)
      const [, kind, size] = (await takeLine()).trim().split(' ')
      if (kind !== 'blob') throw new AppError('unavailable', `git does not have ${id}.`)
      return (await take(Number(size) + 1)).subarray(0, -1)
    },
    async close() {
      child.stop()
      await child.ended.catch(() => {})
    },
  }
}
