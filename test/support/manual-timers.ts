import type { Timers } from '../../src/core/time.ts'

interface Waiting {
  callback: () => void
  ms: number
  dueMs: number
  refresh(): void
  unref(): void
}

/** Timers whose time passes only when a test says so. */
export interface ManualTimers extends Timers {
  /** How many are set. */
  readonly size: number
  /** Lets so much time pass; what is due is called, the earliest first. */
  advance(ms: number): void
}

export function manualTimers(): ManualTimers {
  const waiting = new Set<Waiting>()
  let nowMs = 0
  return {
    get size() {
      return waiting.size
    },
    set(callback, ms) {
      const timer: Waiting = {
        callback,
        ms,
        dueMs: nowMs + ms,
        refresh() {
          timer.dueMs = nowMs + ms
          waiting.add(timer)
        },
        unref() {},
      }
      waiting.add(timer)
      return timer
    },
    clear(timer) {
      waiting.delete(timer as Waiting)
    },
    advance(ms) {
      const endMs = nowMs + ms
      for (;;) {
        const [next] = [...waiting].filter(({ dueMs }) => dueMs <= endMs).sort((one, other) => one.dueMs - other.dueMs)
        if (next === undefined) break
        waiting.delete(next)
        nowMs = next.dueMs
        next.callback()
      }
      nowMs = endMs
    },
  }
}
