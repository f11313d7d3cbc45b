import { AppError, toAppError } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { RunEnd, SessionStore } from '../../core/store.ts'
import { isRetryable } from './end.ts'

const retryEndMs = 500

export interface EndToRecord {
  store: SessionStore
  logger: Logger
  end: RunEnd
  /** As it is when the start is durable. */
  fence: () => number
  /** What is recorded in place of an end that the store refuses. */
  bare: () => RunEnd
  /** The start was not accepted, so there is nothing to end. */
  isDiscarded: () => boolean
  /** It takes longer, or will not be: told once. */
  onFailure: (error: unknown) => void
}

/**
 * Records the end of a run, again and again as long as that may help: the disk was full, or somebody else held the file. What
 * the store refuses as it is ends as a failed run without it. Undefined when the end could not be recorded.
 */
export async function recordEnd(options: EndToRecord): Promise<'ok' | 'missing' | undefined> {
  const { store, logger, isDiscarded } = options
  let { end } = options
  let told = false
  let bare = false
  while (true) {
    try {
      end.fence = options.fence()
      const finished = await store.finishRun(end)
      // A start and its end share a commit; what became of the start is told first.
      if (finished !== 'ok') await new Promise((resolve) => setImmediate(resolve))
      if (isDiscarded()) return undefined
      if (finished === 'ok' || finished === 'missing') return finished
      throw new AppError('unavailable', `The end of the run was not recorded: ${finished}.`)
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
      if (!isRetryable(error)) return undefined
      await new Promise((resolve) => setTimeout(resolve, retryEndMs).unref())
      if (isDiscarded()) return undefined
    }
  }
}
