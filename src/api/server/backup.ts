import { stream } from '../../http/reply.ts'
import { Archive, archiveMediaType } from '../../wire/archive.ts'
import { type DocumentedRoute, documented } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

/** A backup of all stored data. */
export function backupRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  return [
    documented(
      {
        method: 'GET',
        path: `${prefix}/backup`,
        operationId: 'getBackup',
        scope: 'admin',
        tag: 'Server',
        summary: 'Download a backup of all data',
        description:
          'A tar archive of the sessions and documents, for `agentserve restore`. The response starts when the copies are complete, ' +
          'however long that takes.',
        responses: { 200: { description: 'The archive.', content: { [archiveMediaType]: Archive } } },
        errors: ['conflict', 'storage_full'],
      },
      (_request, { backup }) =>
        stream(backup(), archiveMediaType, { 'Content-Disposition': 'attachment; filename="agentserve.tar"' }),
    ),
  ]
}
