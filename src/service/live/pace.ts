import type { Clock } from '../../core/time.ts'

const stepMs = 100
const firstStepMs = 10
/** Work rests so many times as long as it took: it gets at most 2 % of the event loop, and of a thread that reads. */
const restPerWork = 60
const mostRestMs = 2_000

/** When the next step of readers' work may begin. */
export class Pace {
  readonly #clock: Clock
  readonly #onWorked: () => void
  #steppedAtMs = Number.NEGATIVE_INFINITY
  #working = 0
  #beganAtMs = 0
  #workedMs = 0

  /** `onWorked`: the rest is longer than it was. */
  constructor(clock: Clock, onWorked: () => void) {
    this.#clock = clock
    this.#onWorked = onWorked
  }

  /** From now; also for a clock that has been set back. */
  get restMs(): number {
    const sinceMs = this.#clock() - this.#steppedAtMs
    return clamp(clamp(this.#workedMs * restPerWork, stepMs, mostRestMs) - sinceMs, firstStepMs, mostRestMs)
  }

  step(): void {
    this.#steppedAtMs = this.#clock()
    this.#workedMs = 0
  }

  /** Readers that work at the same time share what they read, so that their time counts once. */
  begin(): void {
    if (this.#working++ === 0) this.#beganAtMs = this.#clock()
  }

  end(): void {
    if (--this.#working > 0) return
    this.#workedMs += Math.max(0, this.#clock() - this.#beganAtMs)
    if (this.#workedMs * restPerWork > stepMs) this.#onWorked()
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
