import { type AppError, isAppError } from '../../core/error.ts'
import { isUndelivered, ServerError } from './error.ts'

const firstWaitMs = 100
const longestWaitMs = 5000
/** A server that asks for more than this is left to the caller. */
const longestAskedMs = 30_000

/** `safe`: twice is once anyway. `keyed`: an Idempotency-Key makes it so. `never`: only what was not taken is sent again. */
export type Repeat = 'safe' | 'keyed' | 'never'

/** Whether trying again may help: the server could not be reached, or said that it can't now. */
export function isPassing(error: unknown): boolean {
  return isAppError(error) && error.code === 'unavailable'
}

/** Whether an earlier request with the same key is still at work, so that its answer is only a matter of time. */
export function isAtWork(error: unknown): boolean {
  return isAppError(error) && error.code === 'conflict' && error.retryAfterSeconds !== undefined
}

/** Whether a request that failed so may be sent again without anything happening twice. */
export function mayRepeat(error: AppError, repeat: Repeat): boolean {
  const wasNotTaken = error.code === 'rate_limited' || isUndelivered(error)
  return wasNotTaken || (repeat !== 'never' && isPassing(error))
}

/**
 * How long to wait before that, never less than the server asks for; undefined when it asks for too much. A connection that
 * was lost is replaced at once the first time: most often it had been idle for too long.
 */
export function waitMsBefore(error: AppError, failures: number): number | undefined {
  const askedMs = (error.retryAfterSeconds ?? 0) * 1000
  if (askedMs > longestAskedMs) return undefined
  if (askedMs > 0) return askedMs * (1 + Math.random() / 4)
  if (failures === 0 && !(error instanceof ServerError)) return 0
  return Math.min(longestWaitMs, firstWaitMs * 3 ** failures) * (0.5 + Math.random() / 2)
}
