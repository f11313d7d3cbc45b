import { connectMs } from './settings.ts'

/** Below the usual `requestTimeout`, so that a caller is told what it waited for. */
const longestWaitMs = 20_000

/** All connections were at work for too long, while the database answered. */
export class BusyConnections extends Error {
  // A limit of the configuration, as the database says it: it may be repeated later.
  readonly code = '53400'

  constructor() {
    super(`All connections to the database were at work for ${longestWaitMs / 1_000} s.`)
  }
}

class SilentDatabase extends Error {
  // As for any other connection that can't be made.
  readonly code = '08001'

  constructor() {
    super(`All connections to the database were at work, and it did not answer for ${connectMs / 1_000} s.`)
  }
}

interface Waiting {
  begin(): void
  refuse(error: Error): void
}

/** Who has a connection of a pool, and who waits for one, in the order of arrival. */
export class Turns {
  #free: number
  readonly #heardAt: () => number
  readonly #waiting = new Set<Waiting>()

  /** `heardAt`: when the database last answered anything on any connection, as `performance.now()`. */
  constructor(connections: number, heardAt: () => number) {
    this.#free = connections
    this.#heardAt = heardAt
  }

  async take<T>(use: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#wait()
    try {
      return await use()
    } finally {
      this.#pass()
    }
  }

  /** Refuses all who wait: somebody has found out that the database does not answer. */
  giveUp(): void {
    const error = new SilentDatabase()
    for (const one of [...this.#waiting]) one.refuse(error)
  }

  #pass(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free++
    else next.begin()
  }

  #wait(): Promise<void> {
    const begunMs = performance.now()
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout
      const leave = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
      }
      const waiting: Waiting = {
        begin: () => {
          leave()
          resolve()
        },
        refuse: (error) => {
          leave()
          reject(error)
        },
      }
      const look = () => {
        const nowMs = performance.now()
        const leftMs = begunMs + longestWaitMs - nowMs
        const silenceLeftMs = Math.max(begunMs, this.#heardAt()) + connectMs - nowMs
        if (leftMs > 0 && silenceLeftMs > 0) {
          timer = setTimeout(look, Math.ceil(Math.min(leftMs, silenceLeftMs)))
          return
        }
        waiting.refuse(leftMs > 0 ? new SilentDatabase() : new BusyConnections())
      }
      this.#waiting.add(waiting)
      timer = setTimeout(look, connectMs)
    })
  }
}
