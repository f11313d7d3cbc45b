/** Milliseconds since the epoch. Injected, so that tests control the time. */
export type Clock = () => number

/** Injected, so that tests need not wait. */
export interface Timers {
  set(callback: () => void, ms: number): Timer
  /** Does nothing after the callback ran. */
  clear(timer: Timer | undefined): void
}

export interface Timer {
  /** Restarts the timer, also after the callback ran. */
  refresh(): unknown
  /** The timer does not keep the process alive. */
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

/** Whether it is a moment as times are stored. */
export function isMoment(value: string): boolean {
  const time = Date.parse(value)
  return Number.isFinite(time) && new Date(time).toISOString() === value
}
