import { AppError } from '../../core/error.ts'
import type { RunHandle, Runs } from '../services.ts'

/** Active and queued runs per caller. Callers without any are forgotten. */
export class RunQuota {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** The same runs with a limit: at most `max` may be active or queued for this caller; more are `rate_limited`. */
  limit(runs: Runs, caller: string): Runs {
    return {
      ...runs,
      start: (options) => this.#counted(caller, () => runs.start(options)),
      resume: (runId, answer) => this.#counted(caller, () => runs.resume(runId, answer)),
    }
  }

  async #counted(caller: string, begin: () => Promise<RunHandle>): Promise<RunHandle> {
    const count = this.#counts.get(caller) ?? 0
    const max = this.#max
    if (count >= max) {
      throw new AppError('rate_limited', `This key has ${max} active runs, the maximum. Wait for one to end.`)
    }
    this.#counts.set(caller, count + 1)
    const leave = () => this.#leave(caller)
    try {
      const handle = await begin()
      void handle.result().then(leave, leave)
      return handle
    } catch (error) {
      leave()
      throw error
    }
  }

  #leave(caller: string): void {
    const left = (this.#counts.get(caller) ?? 0) - 1
    if (left > 0) this.#counts.set(caller, left)
    else this.#counts.delete(caller)
  }
}
