import type { RunContext } from '../../core/runnable.ts'

/** A copy of the run's context with some fields replaced or added. */
export function deriveContext<T extends object>(context: RunContext, changes: T): Omit<RunContext, keyof T> & T {
  return { ...context, ...changes }
}
