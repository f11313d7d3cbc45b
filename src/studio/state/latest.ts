/** Reads one thing at a time. A later reading takes the place of an earlier one, which then tells nothing any more. */
export class Latest {
  #reading: AbortController | undefined

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
        this.#reading = undefined
        tell(what)
      }
    get(reading.signal).then(told(onRead), told(onFailed))
  }

  stop(): void {
    this.#reading?.abort()
    this.#reading = undefined
  }
}
