import type { Timer, Timers } from '../core/time.ts'

/** Passes a value on at once, or when `everyMs` have passed since the last one: then only the newest. */
export class Throttle<T extends object> {
  readonly #timers: Timers
  readonly #everyMs: number
  readonly #pass: (value: T) => void
  #waiting: T | undefined
  #timer: Timer | undefined

  constructor(timers: Timers, everyMs: number, pass: (value: T) => void) {
    this.#timers = timers
    this.#everyMs = everyMs
    this.#pass = pass
  }

  offer(value: T): void {
    if (this.#timer !== undefined) this.#waiting = value
    else this.#passOn(value)
  }

  /** What waits is not passed on. */
  drop(): void {
    this.#waiting = undefined
  }

  /** Also clears the timer. */
  stop(): void {
    this.drop()
    this.#timers.clear(this.#timer)
    this.#timer = undefined
  }

  #passOn(value: T): void {
    this.#waiting = undefined
    this.#timer = this.#timers.set(() => {
      this.#timer = undefined
      if (this.#waiting !== undefined) this.#passOn(this.#waiting)
    }, this.#everyMs)
    this.#timer.unref()
    this.#pass(value)
  }
}
