import type { Clock } from '../../core/time.ts'

const everyKeys = 1_000
const everyMs = 60 * 60 * 1_000

/** Says when it is time to drop what has expired: with each 1,000 keys that are kept, and with the first after an hour. */
export class Expiry {
  readonly #clock: Clock
  #kept = 0
  #lastMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastMs = clock()
  }

  /** To be asked whenever a key is kept. */
  isDue(): boolean {
    const now = this.#clock()
    this.#kept++
    if (this.#kept < everyKeys && now - this.#lastMs < everyMs) return false
    this.#kept = 0
    this.#lastMs = now
    return true
  }
}
