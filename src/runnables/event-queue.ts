interface Waiting<T> {
  value: T
  taken: (() => void) | undefined
}

/** So many values may wait before `offer` makes a producer wait too. */
const offerLimit = 16

/**
 * Brings what several producers say into one stream, in the order in which they say it. `push` resolves when the
 * reader has dealt with its value, so that a producer that waits for it goes no faster; one that doesn't is kept in memory.
 */
export class EventQueue<T> implements AsyncIterable<T> {
  #waiting: Waiting<T>[] = []
  #wake: (() => void) | undefined
  #closed = false
  #failure: { error: unknown } | undefined

  /** Whether nobody reads on; what is pushed now is dropped. */
  get closed(): boolean {
    return this.#closed
  }

  push(value: T): Promise<void> {
    if (this.#closed) return Promise.resolve()
    return new Promise((taken) => {
      this.#waiting.push({ value, taken })
      this.#wake?.()
    })
  }

  /** Like `push`, but there is nothing to wait for as long as little is waiting. */
  offer(value: T): Promise<void> | undefined {
    if (this.#waiting.length >= offerLimit) return this.push(value)
    if (this.#closed) return undefined
    this.#waiting.push({ value, taken: undefined })
    this.#wake?.()
    return undefined
  }

  /** The stream ends, with the error if one is given, after what was pushed before. */
  close(failure?: { error: unknown }): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = failure
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      for (;;) {
        const next = this.#waiting.shift()
        if (next !== undefined) {
          try {
            yield next.value
          } finally {
            next.taken?.()
          }
        } else if (this.#closed) {
          if (this.#failure !== undefined) throw this.#failure.error
          return
        } else {
          await new Promise<void>((wake) => {
            this.#wake = wake
          })
          this.#wake = undefined
        }
      }
    } finally {
      this.#closed = true
      for (const { taken } of this.#waiting.splice(0)) taken?.()
    }
  }
}
