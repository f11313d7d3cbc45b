import { stream } from '../../http/reply.ts'
import { Archive, archiveMediaType } from '../../wire/archive.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Server', 'admin')

export function backupRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', `${prefix}/backup`, 'getBackup', {
      summary: 'Download a backup of all data',
      description:
        'A tar archive of the sessions and documents, for `agentserve restore`. The response starts when the copies are complete, ' +
        'however long that takes.',
      responses: { 200: { description: 'The archive.', content: { [archiveMediaType]: Archive } } },
      errors: ['conflict', 'storage_full'],
      handle: (_request, { backup }) =>
        stream(backup(), archiveMediaType, { 'Content-Disposition': 'attachment; filename="agentserve.tar"' }),
    }),
  ]
}
