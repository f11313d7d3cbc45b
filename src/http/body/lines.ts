import { AppError } from '../../core/error.ts'
import { shownBytes } from '../../core/limits.ts'
import { yieldToLoop } from '../../runtime/yield.ts'
import { decodeText, toUtf8 } from './media-type.ts'

export interface LineLimits {
  /** Without the line end. */
  maxLineBytes: number
  /** Called before more of an unfinished line is buffered; resolves when there is room for it. */
  keep(bytes: number): Promise<void> | undefined
  /** Called when a line is consumed. */
  forget(bytes: number): void
}

const lineFeed = 0x0a
const largeBytes = 1024 * 1024

/**
 * Splits bytes into lines of text, without line ends. Requests the next piece once all lines are consumed. Skips an
 * empty last line. Throws `payload_too_large` for a line that is too long, `invalid_request` for bytes that are invalid
 * in the charset.
 */
export async function* linesOf(
  pieces: AsyncIterable<Buffer>,
  contentType: string | undefined,
  { maxLineBytes, keep, forget }: LineLimits,
): AsyncGenerator<string> {
  let begun: Buffer[] = []
  let bytes = 0
  let number = 1
  const add = async (part: Buffer) => {
    if (bytes + part.length > maxLineBytes) {
      throw new AppError('payload_too_large', `Line ${number} is longer than ${shownBytes(maxLineBytes)}.`)
    }
    await keep(part.length)
    bytes += part.length
    begun.push(part)
  }
  const take = async () => {
    const line = begun.length === 1 && begun[0] !== undefined ? begun[0] : Buffer.concat(begun, bytes)
    begun = []
    if (line.length > largeBytes) await yieldToLoop()
    return decodeText(line, undefined)
  }
  for await (const piece of toUtf8(pieces, contentType)) {
    let at = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, at)) {
      if (end > at) await add(piece.subarray(at, end))
      yield await take()
      forget(bytes)
      bytes = 0
      number++
      at = end + 1
    }
    if (at < piece.length) await add(piece.subarray(at))
  }
  if (bytes === 0) return
  yield await take()
  forget(bytes)
}
