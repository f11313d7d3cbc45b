import { timestamp } from '../../core/time.ts'
import { json } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { Health, Readiness } from '../../wire/health.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Server', 'open')

export function healthRoutes(settings: ApiSettings): DocumentedRoute[] {
  const { healthPath, version, startedAtMs, clock } = settings
  return [
    route('GET', healthPath, 'getHealth', {
      summary: 'Liveness: the process answers',
      responses: { 200: jsonAnswer('The process answers.', Health) },
      handle: () => {
        const uptime = Math.max(0, clock() - startedAtMs) / 1000
        const started = timestamp(startedAtMs)
        return json({ status: 'ok', service: 'agentserve', version, started_at: started, uptime_seconds: uptime })
      },
    }),
    route('GET', `${healthPath === '/' ? '' : healthPath}/ready`, 'getReadiness', {
      summary: 'Readiness: the server accepts work',
      responses: {
        200: jsonAnswer('The process answers.', Readiness),
        503: jsonAnswer('The server is starting, stopping or has a failed check.', Readiness),
      },
      handle: async () => {
        const readiness = await settings.readiness()
        return json(readiness, readiness.status === 'ready' ? 200 : 503)
      },
    }),
  ]
}
