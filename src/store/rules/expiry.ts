import type { Clock } from '../../core/time.ts'

const everyKeys = 1_000
const everyMs = 60 * 60 * 1_000

/** Says when to delete expired entries: with every 1,000 new keys, and with the first one after an hour. */
export class Expiry {
  readonly #clock: Clock
  #kept = 0
  #lastMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastMs = clock()
  }

  isDue(): boolean {
    const now = this.#clock()
    this.#kept++
    if (this.#kept < everyKeys && now - this.#lastMs < everyMs) return false
    this.#kept = 0
    this.#lastMs = now
    return true
  }
}
