import type { Timer, Timers } from '../../core/time.ts'

/** In milliseconds; undefined means none. */
export interface RunTimes {
  /** Of the whole run, from its start. */
  timeoutMs: number | undefined
  /** Of silence between two events. */
  idleTimeoutMs: number | undefined
  /** That it may still work, from when it begins or goes on. */
  workMs: number | undefined
}

/** Above it Node's timers would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** The time that one run is given. */
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

  /** Does nothing when they have begun. */
  start(): void {
    const { timeoutMs, idleTimeoutMs } = this.#times
    if (timeoutMs !== undefined) this.#deadline ??= this.#timers.set(this.#onTimeout, timeoutMs)
    if (idleTimeoutMs !== undefined) this.#idle ??= this.#timers.set(this.#onTimeout, idleTimeoutMs)
  }

  /** The run leaves the queue, or goes on after a pause. */
  startWork(): void {
    if (this.#times.workMs !== undefined) this.#arm(this.#times.workMs)
  }

  /** Something happened: the silence begins anew. */
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
