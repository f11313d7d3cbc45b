import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { FileContent } from '../core/knowledge/drivers.ts'

const pieceBytes = 1_000_000
const headBytes = 65_536

/** Reads the file once, in pieces, for its hash and for bytes that are not UTF-8 text. */
export async function scanFile(path: string, signal: AbortSignal): Promise<FileContent> {
  const hash = createHash('sha256')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let size = 0
  let head = Buffer.alloc(0)
  let foreign: Buffer | undefined
  for await (const piece of readPieces(path, Number.POSITIVE_INFINITY)) {
    signal.throwIfAborted()
    hash.update(piece)
    if (size === 0) head = Buffer.from(piece.subarray(0, headBytes))
    foreign ??= foreignIn(piece, decoder, size)
    size += piece.length
  }
  return { size, hash: hash.digest('hex'), head, foreign, pieces: () => readPieces(path, size) }
}

/** Text around the first byte that tells, from the beginning of its line; what UTF-16 needs to be aligned is even. */
function foreignIn(piece: Buffer, decoder: InstanceType<typeof TextDecoder>, from: number): Buffer | undefined {
  let at = piece.indexOf(0)
  if (at === -1) {
    try {
      decoder.decode(piece, { stream: true })
      return undefined
    } catch {
      at = Math.max(
        0,
        piece.findIndex((byte) => byte >= 0x80),
      )
    }
  }
  const line = piece.lastIndexOf(10, at) + 1
  const start = Math.max(line, at - headBytes / 2)
  return Buffer.from(piece.subarray(start - ((from + start) % 2), start + headBytes))
}

async function* readPieces(path: string, most: number): AsyncGenerator<Buffer> {
  const file = await open(path)
  try {
    const buffer = Buffer.allocUnsafeSlow(pieceBytes)
    for (let done = 0; done < most; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(pieceBytes, most - done), done)
      if (bytesRead === 0) return
      done += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
