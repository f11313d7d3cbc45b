import type { AppError } from '../../core/error.ts'
import { runLimit } from '../../core/limits.ts'
import type { Resumption } from '../../core/runnable.ts'

/** Counts the model steps of one run, including those before a pause. */
export class StepLimit {
  readonly #most: number
  readonly #before: number
  #isReached = false

  constructor(most: number, resumed: Resumption | undefined) {
    this.#most = most
    this.#before =
      resumed?.events.filter((event) => event.type === 'model_call_end' && event.finish_reason !== 'error').length ?? 0
  }

  /** A stop condition of the AI SDK, which is only asked when the model would continue. */
  readonly stop = ({ steps }: { steps: readonly unknown[] }): boolean => {
    this.#isReached = this.#before + steps.length >= this.#most
    return this.#isReached
  }

  /** Throws when a resumed run has no step left. */
  assertStepLeft(): void {
    this.#isReached = this.#before >= this.#most
    if (this.failure !== undefined) throw this.failure
  }

  /** The error of a run that was stopped by this limit. */
  get failure(): AppError | undefined {
    if (!this.#isReached) return undefined
    return runLimit('run.steps', String(this.#most), 'Its model called tools at every step and gave no final answer')
  }
}
