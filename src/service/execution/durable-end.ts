import { toAppError } from '../../core/error.ts'
import type { RunEnd } from '../../core/run-write.ts'
import type { RunServices } from '../runs/run-services.ts'
import { isRetryableAmong } from './failure.ts'

const retryEndMs = 500

export interface EndToRecord {
  end: RunEnd
  /** The run's fence; it may change until the start is durable. */
  fence: () => number
  /** The end without output, recorded when the store refuses `end`. */
  bare: () => RunEnd
  /** The start was refused, so there is nothing to end. */
  isDiscarded: () => boolean
  /** The first write failed; it may be retried. Called once. */
  onFailure: (error: unknown) => void
}

/**
 * Records the end of a run. Retries while that may help (the disk is full, the file is locked). An end that the store refuses
 * is recorded as a failed run without output. Undefined when no end could be recorded,
 * `fenced` when another process has ended the run or has it now.
 */
export async function recordEnd(
  { store, timers, logger, peers }: Pick<RunServices, 'store' | 'timers' | 'logger' | 'peers'>,
  options: EndToRecord,
): Promise<'ok' | 'missing' | 'fenced' | undefined> {
  const { isDiscarded } = options
  let { end } = options
  let told = false
  let bare = false
  while (true) {
    try {
      end.fence = options.fence()
      const finished = await store.finishRun(end)
      // A start and its end may share a commit; the result of the start must arrive first.
      if (finished !== 'ok') await new Promise((resolve) => setImmediate(resolve))
      if (isDiscarded()) return undefined
      if (finished === 'already_final') return 'fenced'
      return finished
    } catch (error) {
      if (isDiscarded()) return undefined
      logger.error({ error, run_id: end.run_id }, 'the end of a run could not be recorded')
      if (toAppError(error).code === 'internal' && !bare) {
        bare = true
        end = options.bare()
        continue
      }
      if (!told) options.onFailure(error)
      told = true
      if (!isRetryableAmong(peers, error)) return undefined
      await new Promise<void>((resolve) => timers.set(resolve, retryEndMs).unref())
      if (isDiscarded()) return undefined
    }
  }
}
