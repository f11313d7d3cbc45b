export interface WithinOptions {
  ms: number
  /** What is thrown when the time is over. */
  late: () => unknown
  /** Ends the waiting with its reason. */
  signal?: AbortSignal | undefined
}

/** The work's result, unless it takes too long or the signal aborts; then the work is left alone, a late error of it too. */
export async function within<T>(work: Promise<T>, { ms, late, signal }: WithinOptions): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(signal?.reason)
  const timer = setTimeout(() => stopped.reject(late()), ms)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, stopped.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
