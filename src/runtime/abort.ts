export interface Bounds {
  /** Timeout; default none. */
  ms?: number | undefined
  /** Makes the error for the timeout. */
  late?: () => unknown
  signal?: AbortSignal | undefined
}

/** The result of the work, unless it times out or the signal aborts; then the work's own signal aborts too. */
export async function within<T>(
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  { ms, late, signal }: Bounds,
): Promise<T> {
  const own = new AbortController()
  const stopped = Promise.withResolvers<never>()
  const stop = (reason: unknown) => {
    // In this order: the timeout's error must win over the error of the aborted work.
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

/** The result of shared work: when the signal aborts, only this caller stops waiting. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return within(() => work, { signal })
}

/** Whether the work ends in time, successful or not. */
export function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  )
  return within(() => ended, { ms }).catch(() => false)
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Throws the signal's reason when it aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const stop = () => resolve()
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', stop)
  signal?.throwIfAborted()
}
