import { ConfigError } from '../../config/config-error.ts'
import { AppError } from '../../core/error.ts'
import { databaseOf } from '../../server/database/database.ts'
import { toReadError } from '../command/file-error.ts'
import { addProjectFlags, type ProjectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { findDataFolder, withProject } from '../connect/project.ts'
import { printJson, say } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'
import { terminalLine } from '../terminal/text.ts'
import { shownTime } from '../terminal/when.ts'

export const command: CommandModule<ProjectOptions> = {
  define: (command) => void addProjectFlags(command).argument('<file>', 'a file written by agentserve backup'),
  async run({ signal }, options, file = '') {
    const { restoreArchive } = await import('../../server/storage.ts')
    await assertInFiles(options, signal)
    const dataFolder = await findDataFolder(options)
    const progress = createProgress()
    try {
      const onProgress = (done: number, total: number) => progress.update(megabytes(done), megabytes(total), 'MB')
      const { created_at, agentserve, members } = await restoreArchive({ file, dataFolder, signal, onProgress })
      progress.end()
      if (options.json) printJson({ data_folder: dataFolder, created_at, agentserve, members })
      else
        say(
          `Restored the backup of ${shownTime(created_at, { stream: process.stderr })} to ${terminalLine(dataFolder)}.`,
        )
    } catch (error) {
      throw toReadError(error, file, 'agentserve backup')
    } finally {
      progress.end()
    }
    return undefined
  },
}

/** Throws `invalid_request` when the sessions of the config are in a database: files in the data folder would not be used. */
async function assertInFiles(options: ProjectOptions, signal: AbortSignal): Promise<void> {
  const isInDatabase = await withProject(
    options,
    signal,
    async ({ server }) => databaseOf(server.sessionStorage) !== undefined,
  ).catch((error: unknown) => {
    // A restore must be possible before the config is in order again.
    if (error instanceof ConfigError) return false
    throw error
  })
  if (!isInDatabase) return
  throw new AppError(
    'invalid_request',
    'The sessions are in Postgres. Restore a dump with `pg_restore --dbname="$AGENTSERVE_DATABASE_URL" agentserve.dump` while no server runs.',
  )
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10
}
