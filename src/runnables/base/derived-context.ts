import type { RunContext } from '../../core/runnable.ts'

/** A context of its own for what runs inside this run, with some of it exchanged or added. */
export function deriveContext<T extends object>(context: RunContext, changes: T): Omit<RunContext, keyof T> & T {
  return { ...context, ...changes }
}
