import { releasePath, sourcesPath } from '../../core/access/folder-paths.ts'
import { AppError } from '../../core/error.ts'
import type { Route } from '../../http/router.ts'
import type { CurrentConfig } from '../current-config.ts'
import type { CommandSocket } from '../types.ts'

/** What only the other commands of a data folder ask its owner for, over the owner's socket. */
export function folderRoutes({ onRelease }: CommandSocket, config: CurrentConfig): Route[] {
  return [
    {
      method: 'POST',
      path: releasePath,
      scope: 'admin',
      handler() {
        if (onRelease()) return { status: 202 }
        throw new AppError('conflict', 'The command needs the data folder until its end.')
      },
    },
    {
      method: 'POST',
      path: sourcesPath,
      scope: 'admin',
      takesLong: true,
      async handler() {
        config.ingest()
        await config.ingested()
        return { status: 204 }
      },
    },
  ]
}
