import type { Emission, Runnable } from '../../src/core/runnable.ts'
import { runnable } from './services.ts'

export interface Told {
  runnable: Runnable
  /** Has the run emit it; resolves when the run has taken it. */
  say(emission: Emission): Promise<void>
  end(): void
}

/** An agent that emits what a test says, when the test says it. For one run. */
export function told(more: Partial<Runnable> = {}): Told {
  let next = Promise.withResolvers<Emission | undefined>()
  let taken = Promise.withResolvers<void>()
  return {
    runnable: runnable(async function* () {
      for (;;) {
        const emission = await next.promise
        next = Promise.withResolvers()
        if (emission === undefined) return
        yield emission
        taken.resolve()
      }
    }, more),
    async say(emission) {
      taken = Promise.withResolvers()
      next.resolve(emission)
      await taken.promise
    },
    end: () => next.resolve(undefined),
  }
}
