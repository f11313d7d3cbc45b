import { say, stopWriting } from '../terminal/output.ts'
import { exit } from './exit-codes.ts'
import type { CommandContext } from './module.ts'

/** Longer than a server takes to stop. */
const maxMs = 20_000

/** The first SIGINT or SIGTERM, or SIGHUP in a terminal, aborts the signal. A second one, or the timeout, ends the process at once. */
export function watchSignals(): { context: Omit<CommandContext, 'command' | 'defineAll'>; close(): void } {
  const controller = new AbortController()
  let stoppedBy: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    if (stoppedBy !== undefined) process.exit(exit.interrupted)
    stoppedBy = signal
    // The terminal was closed. Other commands may still have runs here.
    if (signal === 'SIGHUP') stopWriting()
    setTimeout(() => {
      say(`Some work has not ended after ${maxMs / 1000} s. Exiting anyway.`)
      process.exit(exit.interrupted)
    }, maxMs).unref()
    controller.abort(new DOMException(`Stopped by ${signal}.`, 'AbortError'))
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  // Without a terminal it may be ignored on purpose (nohup), which a listener would undo.
  if (process.stdout.isTTY) process.on('SIGHUP', stop)
  return {
    context: { signal: controller.signal, stoppedBy: () => stoppedBy },
    close() {
      process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop)
      if (stoppedBy !== 'SIGHUP') return
      // A usual exit would set the terminal's mode, which aborts when there is no terminal any more.
      process.removeAllListeners('SIGHUP')
      process.kill(process.pid, 'SIGHUP')
    },
  }
}
