import type { Timers } from '../../core/time.ts'

/** Resolves after this time, or when the signal aborts. */
export function rest(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      timers.clear(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = timers.set(end, ms)
    signal.addEventListener('abort', end)
  })
}
