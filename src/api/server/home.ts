import { json } from '../../http/reply.ts'
import { homePage } from '../../web/home-page.ts'
import { AnyObject, PlainText } from '../../wire/document/route-doc.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'
import { htmlReply } from './html.ts'

const route = routesAbout('Server', 'open')

const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** `GET /`: the addresses of the server's parts, as a page for browsers, else as JSON. */
export function homeRoutes({ prefix, healthPath, a2aPrefix, studioPath, version }: ApiSettings): DocumentedRoute[] {
  const places = {
    ...(studioPath === undefined ? {} : { studio: studioPath || '/' }),
    docs: '/docs',
    openapi: '/openapi.yaml',
    health: healthPath,
    agents: `${prefix}/agents`,
    sessions: `${prefix}/sessions`,
    a2a: `${a2aPrefix}/sendMessage`,
  }
  return [
    route('GET', '/', 'getHome', {
      summary: 'List the main paths of this server',
      responses: {
        200: { description: 'The paths.', content: { 'application/json': AnyObject, 'text/html': PlainText } },
      },
      errors: [],
      handle: (request) => {
        if (request.headers.accept?.includes('text/html')) return htmlReply(homePage(places, version), policy)
        return json({ service: 'agentserve', version, ...places }, 200, { Vary: 'Accept' })
      },
    }),
  ]
}
