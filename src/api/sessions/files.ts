import type { StoredFile } from '../../core/file.ts'
import { stream } from '../../http/reply.ts'
import { FileContent } from '../../wire/message.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Sessions', { anyOf: ['run', 'sessions'] })

const unknownType = 'application/octet-stream'
/** Types that no browser runs as a page of this server. */
const harmless = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'application/pdf'])

export function fileRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', `${prefix}/sessions/:id/files/:file_id`, 'getFile', {
      summary: 'Download a file of a session',
      description:
        'The content of a file part, always as an attachment. Images (PNG, JPEG, GIF, WebP, AVIF) and PDF keep their media type; ' +
        'all other files are `application/octet-stream`.',
      params: { id: 'The session.', file_id: 'The `file_id` of a part.' },
      responses: {
        200: {
          description: 'The content.',
          content: { [unknownType]: FileContent },
          headers: { 'Content-Disposition': 'The name of the file.' },
        },
      },
      errors: ['session_not_found', 'file_not_found'],
      handle: async (request, { sessions }) => {
        const { file, content } = await sessions.file(pathId(request), pathId(request, 'file_id'))
        return stream(content, typeOf(file), {
          'Content-Disposition': dispositionOf(file.name),
          'Content-Length': String(file.size),
          'Content-Security-Policy': "default-src 'none'; sandbox",
        })
      },
    }),
  ]
}

function typeOf({ media_type }: StoredFile): string {
  const type = media_type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return harmless.has(type) ? type : unknownType
}

/** The name is text of a stranger: no path, no control or format characters (RFC 6266, RFC 8187). */
function dispositionOf(name: string | null): string {
  if (name === null) return 'attachment'
  const safe = name.toWellFormed().replace(/[\\/:\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '_')
  const plain = safe.replace(/[^\w .()-]/g, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
