import { AppError, invalid } from '../../core/error.ts'
import { shownBytes } from '../../core/limits.ts'
import type { Incoming } from '../exchange.ts'
import type { BodyLimits, BodySize } from './body.ts'

export interface PieceEvents {
  /** Passes the function that ends the reading with an error. */
  onStop(stop: (error: AppError) => void): void
  onPiece(piece: Buffer): void
}

/**
 * The bytes of a body as they arrive; each piece is read on demand. `timeoutMs` is the maximum silence of the client
 * during a read. Leaving early leaves the rest unread and the connection open.
 */
export async function* piecesOf(
  incoming: Incoming,
  { maxBytes, isOfRoute, timeoutMs }: BodyLimits,
  { onStop, onPiece }: PieceEvents,
): AsyncGenerator<Buffer> {
  let failure: AppError | undefined
  let wake: (() => void) | undefined
  let size = 0
  const awake = () => wake?.()
  const stop = (error: AppError) => {
    failure ??= error
    awake()
  }
  const onClose = () => {
    if (!incoming.readableEnded) stop(invalid('The body ended before it was complete.'))
  }
  onStop(stop)
  incoming.on('readable', awake).on('end', awake).on('close', onClose).on('error', onClose)
  if (incoming.readableEnded) stop(alreadyRead())
  else if (incoming.destroyed) onClose()
  try {
    while (failure === undefined) {
      const piece = incoming.read() as Buffer | null
      if (piece !== null) {
        size += piece.length
        if (size > maxBytes) throw tooLarge({ maxBytes, isOfRoute })
        onPiece(piece)
        yield piece
        continue
      }
      if (incoming.readableEnded) return
      const timer = setTimeout(() => stop(tooSlow(timeoutMs)), timeoutMs)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      wake = undefined
      clearTimeout(timer)
    }
    throw failure
  } finally {
    incoming.off('readable', awake).off('end', awake).off('close', onClose)
  }
}

/** By a parser that runs before this server. */
export function alreadyRead(): AppError {
  return invalid(
    'The body was read before it came here. Call server.handle before a body parser such as express.json().',
  )
}

export function tooLarge({ maxBytes, isOfRoute }: BodySize): AppError {
  const advice = isOfRoute ? 'Send less.' : 'Send less, or raise `server.maxRequestSize`.'
  return new AppError('payload_too_large', `The body is larger than ${shownBytes(maxBytes)}. ${advice}`)
}

export function tooSlow(timeoutMs: number): AppError {
  return new AppError('request_timeout', `The body did not arrive within ${timeoutMs} ms.`)
}
