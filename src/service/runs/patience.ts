import { toAppError } from '../../core/error.ts'
import type { RunServices } from './run-services.ts'

const retryMs = 500

/**
 * What a run reads of its store. With other instances, it waits for a store that is away, as its writes do: until the run
 * has to end, or another instance has it.
 */
export async function patiently<T>(
  { peers, timers }: Pick<RunServices, 'peers' | 'timers'>,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> {
  if (peers === undefined) return read()
  while (true) {
    try {
      return await read()
    } catch (error) {
      if (signal.aborted || toAppError(error).code !== 'unavailable') throw error
    }
    await new Promise<void>((resolve) => timers.set(resolve, retryMs).unref())
  }
}
