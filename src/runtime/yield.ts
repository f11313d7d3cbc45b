/** Yields to the event loop; call between CPU-heavy steps. After one immediate, new input may not have been read yet. */
export function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

const maxSliceMs = 8

/** Yields to the event loop whenever work on the main thread has taken a while. */
export class Pace {
  #since = performance.now()

  async step(): Promise<void> {
    if (performance.now() - this.#since < maxSliceMs) return
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#since = performance.now()
  }

  /** Runs a generator that yields wherever it may be interrupted. */
  async through<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      await this.step()
    }
  }
}
