import type { CommandContext } from './command.ts'
import { exit } from './exit-codes.ts'

/** The first SIGINT or SIGTERM aborts the context's signal; the second ends the process at once. */
export function watchSignals(): { context: CommandContext; close(): void } {
  const controller = new AbortController()
  let stoppedBy: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    if (stoppedBy !== undefined) process.exit(exit.interrupted)
    stoppedBy = signal
    controller.abort(new DOMException(`Stopped by ${signal}.`, 'AbortError'))
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  return {
    context: { signal: controller.signal, stoppedBy: () => stoppedBy },
    close: () => void process.off('SIGINT', stop).off('SIGTERM', stop),
  }
}
