import { shownBytes } from '../../core/limits.ts'
import { addConnectFlags, type ConnectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { writeWhole } from '../connect/write-archive.ts'
import { printJson, say } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'
import { terminalLine } from '../terminal/text.ts'

export const command: CommandModule<ConnectOptions> = {
  define: (command) =>
    void addConnectFlags(command).argument('<file>', 'the backup file; an existing file is never overwritten'),
  async run(context, options, file = '') {
    const { signal } = context
    const progress = createProgress()
    try {
      const bytes = await withClient(options, context, async (client) => {
        progress.update(0, 0, 'MB: copying the databases')
        return writeWhole(file, await client.backup({ signal }), signal, (done) =>
          progress.update(megabytes(done), megabytes(done), 'MB'),
        )
      })
      progress.end()
      if (options.json) printJson({ file, bytes })
      else say(`Wrote ${shownBytes(bytes)} to ${terminalLine(file)}.`)
    } finally {
      progress.end()
    }
    return undefined
  },
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10
}
