import { AppError } from '../../core/error.ts'
import type { RunHandle, Runs } from '../services.ts'

/** The same runs with a limit: at most `max` may be active or queued for this caller; more are `rate_limited`. */
export function limitRuns(runs: Runs, max: number): Runs {
  let count = 0

  async function counted(begin: () => Promise<RunHandle>): Promise<RunHandle> {
    if (count >= max) {
      throw new AppError('rate_limited', `This key has ${max} active runs, the maximum. Wait for one to end.`)
    }
    count++
    const leave = () => {
      count--
    }
    try {
      const handle = await begin()
      void handle.result().then(leave, leave)
      return handle
    } catch (error) {
      leave()
      throw error
    }
  }

  return {
    ...runs,
    start: (options) => counted(() => runs.start(options)),
    resume: (runId, answer) => counted(() => runs.resume(runId, answer)),
  }
}
