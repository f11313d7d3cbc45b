const turnMs = 8

/** Lets others in whenever work on the main thread has taken a moment. */
export class Pace {
  #since = performance.now()

  async step(): Promise<void> {
    if (performance.now() - this.#since < turnMs) return
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#since = performance.now()
  }

  /** Goes through a generator that yields where it may be interrupted. */
  async through<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      await this.step()
    }
  }
}
