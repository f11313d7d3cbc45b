interface QueuedValue<T> {
  value: T
  taken: (() => void) | undefined
}

/** Merges the values of several producers into one stream for one reader, in order. */
// Not an async generator: each one that a value passes through delays it.
export class Channel<T> implements AsyncIterable<T> {
  readonly #offerLimit: number
  readonly #waiting: QueuedValue<T>[] = []
  #reader: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined
  /** Releases the producer of the value that the reader is processing. */
  #taken: (() => void) | undefined
  #closed = false
  #failure: { error: unknown } | undefined

  /** `offerLimit`: the number of queued values from which `offer` makes a producer wait. */
  constructor(offerLimit = 16) {
    this.#offerLimit = offerLimit
  }

  /** Closed or left by its reader; later values are dropped. */
  get closed(): boolean {
    return this.#closed
  }

  /** Resolves when the reader has processed the value. */
  push(value: T): Promise<void> {
    if (this.#closed) return Promise.resolve()
    return new Promise((taken) => this.#add(value, taken))
  }

  /** Like `push`, but returns no promise while few values are queued. */
  offer(value: T): Promise<void> | undefined {
    if (this.#waiting.length >= this.#offerLimit) return this.push(value)
    if (!this.#closed) this.#add(value, undefined)
    return undefined
  }

  /** Ends the stream after the values so far, with the error if one is given. */
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

  /** The end of the stream; an error is thrown once. */
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
