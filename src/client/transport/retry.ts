import { type AppError, isAppError } from '../../core/error.ts'
import { ServerError } from './error.ts'
import { isUndelivered } from './network-error.ts'

const firstWaitMs = 100
const longestWaitMs = 5000
/** A longer Retry-After is not waited for: the caller gets the error. */
const longestAskedMs = 30_000

/** `safe`: idempotent. `keyed`: idempotent because of an Idempotency-Key. `never`: retried only if the server did not accept it. */
export type Repeat = 'safe' | 'keyed' | 'never'

/** Whether a retry may help: the server was not reached or is unavailable for now. */
export function isPassing(error: unknown): boolean {
  return isAppError(error) && error.code === 'unavailable'
}

/** Whether an earlier request with the same key is still in progress. */
export function isAtWork(error: unknown): boolean {
  return isAppError(error) && error.code === 'conflict' && error.retryAfterSeconds !== undefined
}

/** Whether a request with this failure can be repeated safely. */
export function mayRepeat(error: AppError, repeat: Repeat): boolean {
  const wasNotTaken = error.code === 'rate_limited' || isUndelivered(error)
  // A server whose process was stopped for a while takes a short request for late. A long one would be late again.
  const wasLate = repeat === 'safe' && error.code === 'request_timeout'
  return wasNotTaken || wasLate || (repeat !== 'never' && isPassing(error))
}

/**
 * The wait before a retry, at least Retry-After; undefined if Retry-After is too long. The first retry after a lost
 * connection is immediate, because most often the connection had been idle for too long.
 */
export function waitMsBefore(error: AppError, failures: number): number | undefined {
  const askedMs = (error.retryAfterSeconds ?? 0) * 1000
  if (askedMs > longestAskedMs) return undefined
  if (askedMs > 0) return askedMs * (1 + Math.random() / 4)
  if (failures === 0 && !(error instanceof ServerError)) return 0
  return Math.min(longestWaitMs, firstWaitMs * 3 ** failures) * (0.5 + Math.random() / 2)
}
