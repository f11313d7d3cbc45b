export interface Serial {
  /** Runs the work after all earlier work. A failure only rejects this promise. */
  run<T>(work: () => T | Promise<T>): Promise<T>
  /** Resolves when all work so far has ended, failed or not. */
  idle(): Promise<void>
}

/** Runs one piece of work at a time, in the order given. */
export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(work) {
      const done = last.then(work)
      last = done.catch(() => {})
      return done
    },
    async idle() {
      await last
    },
  }
}
