import { timestamp } from '../../core/time.ts'
import { json } from '../../http/reply.ts'
import { Health, Readiness } from '../../wire/health.ts'
import { type DocumentedRoute, documented } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

/** Liveness and readiness. */
export function healthRoutes(settings: ApiSettings): DocumentedRoute[] {
  const { healthPath, version, startedAtMs, clock } = settings
  return [
    documented(
      {
        method: 'GET',
        path: healthPath,
        operationId: 'getHealth',
        tag: 'Server',
        summary: 'Liveness: the process answers',
        scope: 'open',
        responses: { 200: { description: 'The process answers.', content: { 'application/json': Health } } },
      },
      () => {
        const uptime = Math.max(0, clock() - startedAtMs) / 1000
        const started = timestamp(startedAtMs)
        return json({ status: 'ok', service: 'agentserve', version, started_at: started, uptime_seconds: uptime })
      },
    ),
    documented(
      {
        method: 'GET',
        path: `${healthPath === '/' ? '' : healthPath}/ready`,
        operationId: 'getReadiness',
        tag: 'Server',
        summary: 'Readiness: the server accepts work',
        scope: 'open',
        responses: {
          200: { description: 'The process answers.', content: { 'application/json': Readiness } },
          503: {
            description: 'The server is starting, stopping or has a failed check.',
            content: { 'application/json': Readiness },
          },
        },
      },
      async () => {
        const readiness = await settings.readiness()
        return json(readiness, readiness.status === 'ready' ? 200 : 503)
      },
    ),
  ]
}
