import type { Timer, Timers } from '../../core/time.ts'

/** In milliseconds; undefined: no limit. */
export interface RunTimes {
  /** Limit of the whole run, from its start. */
  timeoutMs: number | undefined
  /** Limit of the time between two events. */
  idleTimeoutMs: number | undefined
  /** Work time that is left, from when the run begins or is resumed. */
  workMs: number | undefined
}

/** Node's timers fire at once above this. */
const longestTimerMs = 2 ** 31 - 1

export class RunTimers {
  readonly #timers: Timers
  readonly #times: RunTimes
  readonly #onTimeout: () => void
  readonly #onWorked: () => void
  #deadline: Timer | undefined
  #idle: Timer | undefined
  #work: Timer | undefined

  constructor(timers: Timers, times: RunTimes, onTimeout: () => void, onWorked: () => void) {
    this.#timers = timers
    this.#times = times
    this.#onTimeout = onTimeout
    this.#onWorked = onWorked
  }

  /** Does nothing when the timers run already. */
  start(): void {
    const { timeoutMs, idleTimeoutMs } = this.#times
    if (timeoutMs !== undefined) this.#deadline ??= this.#timers.set(this.#onTimeout, timeoutMs)
    if (idleTimeoutMs !== undefined) this.#idle ??= this.#timers.set(this.#onTimeout, idleTimeoutMs)
  }

  /** The run leaves the queue, or is resumed. */
  startWork(): void {
    if (this.#times.workMs !== undefined) this.#arm(this.#times.workMs)
  }

  resetIdleTimer(): void {
    this.#idle?.refresh()
  }

  clear(): void {
    this.#timers.clear(this.#deadline)
    this.#timers.clear(this.#idle)
    this.#timers.clear(this.#work)
  }

  #arm(restMs: number): void {
    const nowMs = Math.min(restMs, longestTimerMs)
    const next = () => (restMs > nowMs ? this.#arm(restMs - nowMs) : this.#onWorked())
    this.#work = this.#timers.set(next, nowMs)
  }
}
