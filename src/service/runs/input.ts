import { AppError } from '../../core/error.ts'
import { type Part, textOf } from '../../core/message.ts'
import type { RunGiven } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { RunServices } from './run-services.ts'

/** Lets the entity check the input before a run exists. Throws `timeout` when that takes too long. */
export async function checkInput(
  { timers, requestTimeoutMs }: Pick<RunServices, 'timers' | 'requestTimeoutMs'>,
  runnable: Runnable,
  { parts, given }: { parts: Part[]; given?: RunGiven | undefined },
): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = timers.set(() => {
    late.reject(
      new AppError(
        'timeout',
        `The input was not checked within requestTimeout (${requestTimeoutMs} ms). No run began.`,
      ),
    )
  }, requestTimeoutMs)
  try {
    await Promise.race([runnable.checkInput?.({ parts, text: textOf(parts) }, given), late.promise])
  } finally {
    timers.clear(timer)
  }
}
