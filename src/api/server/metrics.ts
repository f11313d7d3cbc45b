import { text } from '../../http/reply.ts'
import { PlainText } from '../../wire/document/route-doc.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Server', 'metrics')

const mediaType = 'text/plain; version=0.0.4; charset=utf-8'

/** Metrics for Prometheus. Needs a key where keys are configured. */
export function metricsRoutes({ metrics }: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', '/metrics', 'getMetrics', {
      summary: 'Metrics of requests, runs and the process',
      description: 'In the Prometheus text format.',
      responses: { 200: { description: 'The metrics.', content: { 'text/plain': PlainText } } },
      handle: () => text(metrics(), mediaType),
    }),
  ]
}
