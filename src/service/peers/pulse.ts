import type { Timer, Timers } from '../../core/time.ts'
import type { Monotonic } from './lease.ts'

const retryMs = 1_000

/** Does something again and again, never twice at once; a failure is soon followed by another attempt. */
export class Pulse {
  readonly #timers: Timers
  readonly #now: Monotonic
  readonly #everyMs: number
  readonly #beat: (sentMs: number) => Promise<void>
  readonly #failed: (error: unknown) => void
  #timer: Timer | undefined
  #beating: Promise<void> | undefined
  #stopped = false

  constructor(
    { timers, now, everyMs }: { timers: Timers; now: Monotonic; everyMs: number },
    beat: (sentMs: number) => Promise<void>,
    failed: (error: unknown) => void,
  ) {
    this.#timers = timers
    this.#now = now
    this.#everyMs = everyMs
    this.#beat = beat
    this.#failed = failed
  }

  start(): void {
    this.#next(this.#everyMs)
  }

  /** Resolves when what has begun is over. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timers.clear(this.#timer)
    await this.#beating
  }

  #next(ms: number): void {
    if (this.#stopped) return
    this.#timer = this.#timers.set(() => {
      this.#beating = this.#once().finally(() => {
        this.#beating = undefined
      })
    }, ms)
    this.#timer.unref()
  }

  async #once(): Promise<void> {
    const sentMs = this.#now()
    try {
      await this.#beat(sentMs)
      this.#next(Math.max(0, this.#everyMs - (this.#now() - sentMs)))
    } catch (error) {
      this.#failed(error)
      this.#next(retryMs)
    }
  }
}
