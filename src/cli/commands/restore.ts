import { addProjectFlags, type ProjectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { toReadError } from '../connect/file-error.ts'
import { findDataFolder } from '../connect/project.ts'
import { printJson, say } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'
import { terminalLine } from '../terminal/text.ts'

export const command: CommandModule<ProjectOptions> = {
  define: (command) => void addProjectFlags(command).argument('<file>', 'a file written by agentserve backup'),
  async run({ signal }, options, file = '') {
    const { restoreArchive } = await import('../../server/storage.ts')
    const dataFolder = await findDataFolder(options)
    const progress = createProgress()
    try {
      const onProgress = (done: number, total: number) => progress.update(megabytes(done), megabytes(total), 'MB')
      const { created_at, agentserve, members } = await restoreArchive({ file, dataFolder, signal, onProgress })
      progress.end()
      if (options.json) printJson({ data_folder: dataFolder, created_at, agentserve, members })
      else say(`Restored the backup of ${created_at} to ${terminalLine(dataFolder)}.`)
    } catch (error) {
      throw toReadError(error, file, 'agentserve backup')
    } finally {
      progress.end()
    }
    return undefined
  },
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10
}
