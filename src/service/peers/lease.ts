/** Milliseconds of a clock that only goes forward. */
export type Monotonic = () => number

/**
 * Whether this instance may still act for its runs. Computed from the clock each time: after a process was stopped, what
 * arrives on sockets may be handled before any timer.
 */
export class Lease {
  readonly #now: Monotonic
  readonly #holdAfterMs: number
  /** When the last confirmed beat was sent. */
  #confirmedMs: number | undefined
  #waiting: (() => void)[] = []
  #closed = false

  /** Without a confirmed beat for `holdAfterMs`, other instances may soon take this one for dead. */
  constructor(now: Monotonic, holdAfterMs: number) {
    this.#now = now
    this.#holdAfterMs = holdAfterMs
  }

  /** Undefined: it is no instance of the store, or not any more. */
  get ageMs(): number | undefined {
    return this.#confirmedMs === undefined ? undefined : this.#now() - this.#confirmedMs
  }

  get isHeld(): boolean {
    return this.#confirmedMs === undefined || this.#now() - this.#confirmedMs >= this.#holdAfterMs
  }

  /** `sentMs`: when the beat was sent. Gives whether the lease was held until now. */
  confirm(sentMs: number): boolean {
    const wasHeld = this.isHeld
    this.#confirmedMs = sentMs
    if (!this.isHeld) this.#release()
    return wasHeld
  }

  lose(): void {
    this.#confirmedMs = undefined
  }

  /** Resolves when the lease is not held, and when it is closed. */
  released(): Promise<void> {
    if (this.#closed || !this.isHeld) return Promise.resolve()
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  close(): void {
    this.#closed = true
    this.#release()
  }

  #release(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }
}
