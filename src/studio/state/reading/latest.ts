/** Reads one thing at a time. A later reading takes the place of an earlier one, which then tells nothing any more. */
export class Latest {
  #reading: AbortController | undefined
  #next: (() => void) | undefined

  get isReading(): boolean {
    return this.#reading !== undefined
  }

  read<T>(get: (signal: AbortSignal) => Promise<T>, onRead: (answer: T) => void, onFailed: (error: unknown) => void) {
    this.stop()
    const reading = new AbortController()
    this.#reading = reading
    const told =
      <Told>(tell: (what: Told) => void) =>
      (what: Told) => {
        if (this.#reading !== reading) return
        const next = this.#next
        this.stop()
        tell(what)
        next?.()
      }
    get(reading.signal).then(told(onRead), told(onFailed))
  }

  /** At once, or when what is being read has come or failed. */
  soon(read: () => void): void {
    if (this.isReading) this.#next = read
    else read()
  }

  stop(): void {
    this.#reading?.abort()
    this.#reading = undefined
    this.#next = undefined
  }
}
