import { pause } from '../../runtime/abort.ts'

export interface Gate {
  pass<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T>
  /** Holds back all requests for this long. */
  pauseFor(milliseconds: number): void
  /** Resolves when the pause is over. */
  opened(signal: AbortSignal | undefined): Promise<void>
}

/** Limits concurrent requests, and holds all back during a pause. */
export function createGate(atOnce: number): Gate {
  const waiting: (() => void)[] = []
  let free = atOnce
  let opensAt = 0
  return {
    pauseFor(milliseconds) {
      opensAt = Math.max(opensAt, performance.now() + milliseconds)
    },
    async opened(signal) {
      for (let left = opensAt - performance.now(); left > 0; left = opensAt - performance.now())
        await pause(Math.ceil(left), signal)
    },
    async pass(work, signal) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        signal?.throwIfAborted()
        return await work()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else free++
      }
    },
  }
}
