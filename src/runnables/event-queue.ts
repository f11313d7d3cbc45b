interface Waiting<T> {
  value: T
  taken: () => void
}

/**
 * Brings what several producers say into one stream, in the order in which they say it. `push` resolves when its value was
 * taken, so that a producer that waits for it goes no faster than the reader; one that doesn't is kept in memory.
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
          next.taken()
          yield next.value
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
      for (const { taken } of this.#waiting.splice(0)) taken()
    }
  }
}
