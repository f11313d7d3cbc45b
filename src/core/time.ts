/** Milliseconds since the epoch. Passed in, so that tests decide what time it is. */
export type Clock = () => number

/** Calls back when time has passed. Passed in, so that tests need not wait. */
export interface Timers {
  set(callback: () => void, ms: number): Timer
  /** Does nothing once it has called. */
  clear(timer: Timer | undefined): void
}

export interface Timer {
  /** Begins anew, also after it has called. */
  refresh(): unknown
  /** It does not keep the process. */
  unref(): unknown
}

let lastMs = -1
let lastText = ''

/** RFC 3339 in UTC with milliseconds. */
export function timestamp(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms
    lastText = new Date(ms).toISOString()
  }
  return lastText
}
