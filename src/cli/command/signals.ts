import { say } from '../terminal/output.ts'
import { exit } from './exit-codes.ts'
import type { CommandContext } from './module.ts'

/** Longer than a server takes to stop. */
const maxMs = 20_000

/** The first SIGINT or SIGTERM aborts the signal. A second one, or the timeout, ends the process at once. */
export function watchSignals(): { context: Omit<CommandContext, 'command' | 'defineAll'>; close(): void } {
  const controller = new AbortController()
  let stoppedBy: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    if (stoppedBy !== undefined) process.exit(exit.interrupted)
    stoppedBy = signal
    setTimeout(() => {
      say(`Some work has not ended after ${maxMs / 1000} s. Exiting anyway.`)
      process.exit(exit.interrupted)
    }, maxMs).unref()
    controller.abort(new DOMException(`Stopped by ${signal}.`, 'AbortError'))
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  return {
    context: { signal: controller.signal, stoppedBy: () => stoppedBy },
    close: () => void process.off('SIGINT', stop).off('SIGTERM', stop),
  }
}
