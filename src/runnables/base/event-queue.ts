interface Waiting<T> {
  value: T
  taken: (() => void) | undefined
}

/** So many values may wait before `offer` makes a producer wait too. */
const offerLimit = 16

/**
 * Brings what several producers say into one stream, in the order in which they say it, for one reader. `push` resolves when
 * the reader has dealt with its value, so that a producer that waits for it goes no faster; one that doesn't is kept in memory.
 */
// Not an async generator: each one that a fragment passes through holds it up.
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #waiting: Waiting<T>[] = []
  #reader: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined
  /** Of the value that the reader has in hand. */
  #taken: (() => void) | undefined
  #closed = false
  #failure: { error: unknown } | undefined

  /** Whether nobody reads on; what is pushed now is dropped. */
  get closed(): boolean {
    return this.#closed
  }

  push(value: T): Promise<void> {
    if (this.#closed) return Promise.resolve()
    return new Promise((taken) => this.#add(value, taken))
  }

  /** Like `push`, but there is nothing to wait for as long as little is waiting. */
  offer(value: T): Promise<void> | undefined {
    if (this.#waiting.length >= offerLimit) return this.push(value)
    if (!this.#closed) this.#add(value, undefined)
    return undefined
  }

  /** The stream ends, with the error if one is given, after what was pushed before. */
  close(failure?: { error: unknown }): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = failure
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve(this.#end())
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#leave()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  #add(value: T, taken: (() => void) | undefined): void {
    const reader = this.#reader
    if (reader === undefined) {
      this.#waiting.push({ value, taken })
      return
    }
    this.#reader = undefined
    this.#taken = taken
    reader.resolve({ done: false, value })
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    this.#taken?.()
    this.#taken = undefined
    const next = this.#waiting.shift()
    if (next !== undefined) {
      this.#taken = next.taken
      return Promise.resolve({ done: false, value: next.value })
    }
    if (this.#closed) return Promise.resolve(this.#end())
    this.#reader = Promise.withResolvers()
    return this.#reader.promise
  }

  /** The end; a promise that fails when there is an error, which is told once. */
  #end(): IteratorResult<T, undefined> | Promise<never> {
    const failure = this.#failure
    this.#failure = undefined
    return failure === undefined ? { done: true, value: undefined } : Promise.reject(failure.error)
  }

  #leave(): void {
    this.#closed = true
    this.#failure = undefined
    this.#reader?.resolve({ done: true, value: undefined })
    this.#taken?.()
    for (const { taken } of this.#waiting.splice(0)) taken?.()
  }
}
