import type { Again } from '../../core/again/again.ts'
import type { AgainPlan } from '../../core/again/plan.ts'
import type { Emission, RunContext, RunInput, Runnable } from '../../core/runnable.ts'

export interface RepeatingOptions {
  again: Again
  plan?: AgainPlan | undefined
  /** Of `recorded`. */
  readRecord?: (() => Promise<Again['record']>) | undefined
}

/** The entity for a run that repeats another: what the record has comes first, and is durable before anything is made anew. */
export function repeating(entity: Runnable, { again, plan, readRecord }: RepeatingOptions): Runnable {
  return {
    ...entity,
    async *run(input: RunInput, context: RunContext): AsyncGenerator<Emission> {
      // Its child runs have the same.
      if (readRecord !== undefined) again.record ??= await readRecord()
      if (plan !== undefined) await context.repeat?.(plan.repeated)
      yield* entity.run(input, context)
    },
  }
}
