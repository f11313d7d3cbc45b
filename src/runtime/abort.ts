import { setTimeout as sleep } from 'node:timers/promises'

export interface Bounds {
  /** How long to wait; for ever without it. */
  ms?: number | undefined
  /** Makes the error to throw when the time is over. */
  late?: () => unknown
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined
}

/**
 * The result of the work, unless it takes too long or the signal aborts. The work gets a signal that aborts then too; if it
 * goes on all the same, its outcome is dropped.
 */
export async function within<T>(
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  { ms, late, signal }: Bounds,
): Promise<T> {
  const own = new AbortController()
  const stopped = Promise.withResolvers<never>()
  const stop = (reason: unknown) => {
    // In this order: what the work throws when it is told must not come first.
    stopped.reject(reason)
    own.abort(reason)
  }
  const onAbort = () => stop(signal?.reason)
  const timer = ms === undefined ? undefined : setTimeout(() => stop(late?.()), ms)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([(async () => work(own.signal))(), stopped.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** The result of work that others may share: when the signal aborts, only this caller stops waiting. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return within(() => work, { signal })
}

/** Whether the work ends in time, failed or not. */
export function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  )
  return within(() => ended, { ms }).catch(() => false)
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Waits. Throws the reason of the signal when it aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted())
}
