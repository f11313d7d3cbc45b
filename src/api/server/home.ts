import { empty, json } from '../../http/reply.ts'
import { homePage } from '../../web/home-page.ts'
import { AnyObject, PlainText } from '../../wire/document/route-doc.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'
import { htmlReply } from './html.ts'

const route = routesAbout('Server', 'open')

const policy =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** `GET /`: leads browsers to the studio, or to a page of the server's parts where there is no studio. Others get the parts as JSON. */
export function homeRoutes({ prefix, healthPath, a2aPrefix, studioPath, version }: ApiSettings): DocumentedRoute[] {
  const places = {
    ...(studioPath === undefined ? {} : { studio: studioPath }),
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
        302: { description: 'For a browser: the studio, where it is served.' },
      },
      errors: [],
      handle: (request) => {
        if (request.headers.accept?.includes('text/html')) {
          if (studioPath === undefined) return htmlReply(homePage(places, version), policy)
          return empty(302, { Location: locationOf(studioPath), Vary: 'Accept', 'Cache-Control': 'no-cache' })
        }
        return json({ service: 'agentserve', version, ...places }, 200, { Vary: 'Accept' })
      },
    }),
  ]
}

/** A path may be written with `%20` in it. */
function locationOf(path: string): string {
  return encodeURI(path).replaceAll('%25', '%')
}
