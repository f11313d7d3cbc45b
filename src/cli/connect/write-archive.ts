import { randomUUID } from 'node:crypto'
import { access, open, rename, rm } from 'node:fs/promises'
import { AppError } from '../../core/error.ts'
import { toWriteError } from '../command/file-error.ts'

const endBytes = 1024

/** Atomic, readable by the owner only. Throws `conflict` when the file exists. Gives its size. */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  onBytes: (done: number) => void,
): Promise<number> {
  const part = `${path}.${randomUUID().slice(0, 8)}.part`
  try {
    await assertFree(path)
    const file = await open(part, 'wx', 0o600)
    let bytes = 0
    let last: Uint8Array = new Uint8Array()
    try {
      for await (const piece of pieces) {
        signal.throwIfAborted()
        for (let index = 0; index < piece.length; ) index += (await file.write(piece, index)).bytesWritten
        bytes += piece.length
        last = piece.length >= endBytes ? piece : Buffer.concat([last, piece])
        last = last.subarray(-endBytes)
        onBytes(bytes)
      }
      if (last.length < endBytes || last.some((byte) => byte !== 0))
        throw new AppError('unavailable', 'The backup is incomplete: the connection ended early. Try again.')
      await file.sync()
    } finally {
      await file.close()
    }
    await assertFree(path)
    await rename(part, path)
    return bytes
  } catch (error) {
    throw toWriteError(error, path)
  } finally {
    await rm(part, { force: true })
  }
}

async function assertFree(path: string): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (isThere) throw Object.assign(new Error('the file already exists'), { code: 'EEXIST' })
}
