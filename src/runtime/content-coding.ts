import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { AppError } from '../core/error.ts'

/** The value of Accept-Encoding. */
export const acceptedCodings = 'gzip, br, deflate'

/** Each takes memory for its window. */
const maxCodings = 5

/**
 * Decodes the Content-Encoding of a body (RFC 9110, section 8.4) piece by piece. The reader limits its size.
 * Throws `invalid_request` for a coding that was not requested.
 */
export async function* decoded(
  body: AsyncIterable<Uint8Array>,
  header: string | undefined,
  address: string,
): AsyncGenerator<Uint8Array> {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > maxCodings)
    throw new AppError(
      'invalid_request',
      `${address} is encoded more than ${maxCodings} times, which is not supported.`,
    )
  let pieces = body
  for (const coding of codings.toReversed()) pieces = through(pieces, coding, address)
  yield* pieces
}

async function* through(body: AsyncIterable<Uint8Array>, coding: string, address: string): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  const first = await pieces.next()
  const decoder = first.done ? undefined : decoderOf(coding, first.value)
  if (first.done) return
  if (decoder === undefined)
    throw new AppError('invalid_request', `${address} is encoded as '${coding.slice(0, 40)}', which is not supported.`)
  const feeding = feed(decoder, first.value, pieces)
  try {
    yield* decoder
    await feeding
  } finally {
    decoder.destroy()
    await feeding.catch(() => undefined)
    await pieces.return?.()
  }
}

async function feed(decoder: Transform, first: Uint8Array, pieces: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    for (let piece: IteratorResult<Uint8Array> = { value: first }; !piece.done; piece = await pieces.next()) {
      if (decoder.destroyed) return
      if (!decoder.write(piece.value)) await drained(decoder)
    }
    decoder.end()
  } catch (error) {
    decoder.destroy(error as Error)
  }
}

function drained(decoder: Transform): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      decoder.off('drain', done).off('close', done)
      resolve()
    }
    if (decoder.destroyed) resolve()
    else decoder.on('drain', done).on('close', done)
  })
}

function decoderOf(coding: string, start: Uint8Array): Transform | undefined {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'br') return createBrotliDecompress()
  // `deflate` means the zlib format; some servers leave its two bytes out.
  if (coding === 'deflate') return isZlib(start) ? createInflate() : createInflateRaw()
  return undefined
}

function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}
