import { fixedPath, type RouteGroup } from '../http/meeting.ts'
import type { Route } from '../http/router.ts'
import type { Services } from '../service/services.ts'
import { knowledgeRoutes } from './knowledge/knowledge.ts'
import { liveRoutes } from './live/live.ts'
import { openApiRoutes } from './openapi/openapi.ts'
import { bindRoute, type DocumentedRoute, type ServicesOf } from './route/documented.ts'
import type { ApiSettings } from './route/settings.ts'
import { againRoutes } from './runs/again.ts'
import { agentRoutes } from './runs/agents.ts'
import { keepRoutes } from './runs/keep.ts'
import { runRoutes } from './runs/runs.ts'
import { runTextRoutes } from './runs/text.ts'
import { auditRoutes } from './server/audit.ts'
import { backupRoutes } from './server/backup.ts'
import { docsRoutes } from './server/docs.ts'
import { healthRoutes } from './server/health.ts'
import { homeRoutes } from './server/home.ts'
import { meRoutes } from './server/me.ts'
import { metricsRoutes } from './server/metrics.ts'
import { projectTestRoutes } from './server/project-tests.ts'
import { scheduleRoutes } from './server/schedules.ts'
import { sessionCopyRoutes } from './sessions/copies.ts'
import { factRoutes } from './sessions/facts.ts'
import { fileRoutes } from './sessions/files.ts'
import { historyRoutes } from './sessions/history.ts'
import { messageRoutes } from './sessions/messages.ts'
import { sessionTestRoutes } from './sessions/session-test.ts'
import { sessionRoutes } from './sessions/sessions.ts'
import { summaryRoutes } from './sessions/summaries.ts'
import { userRoutes } from './sessions/user-data.ts'

/**
 * All REST routes, documentation included. Call and mount again after a change of agents or settings, which the
 * documentation describes. `servicesOf`: the services of each caller; default: `services`.
 */
export function apiRoutes(services: Services, settings: ApiSettings, servicesOf?: ServicesOf): Route[] {
  return apiRouteGroups(services, settings, servicesOf).flatMap(({ routes }) => routes)
}

/** The same by the setting that their paths come from. */
export function apiRouteGroups(
  services: Services,
  settings: ApiSettings,
  servicesOf: ServicesOf = () => services,
): RouteGroup<Route>[] {
  const below: DocumentedRoute[] = [
    ...sessionRoutes(settings),
    ...sessionCopyRoutes(settings),
    ...sessionTestRoutes(settings),
    ...summaryRoutes(settings),
    ...historyRoutes(settings),
    ...messageRoutes(settings),
    ...fileRoutes(settings),
    ...runRoutes(settings),
    ...againRoutes(settings),
    ...keepRoutes(settings),
    ...runTextRoutes(settings),
    ...agentRoutes(settings, services.registry.ids()),
    ...knowledgeRoutes(services.knowledge, settings),
    ...liveRoutes(settings),
    ...scheduleRoutes(settings),
    ...userRoutes(settings),
    ...factRoutes(settings),
    ...backupRoutes(settings),
    ...auditRoutes(settings),
    ...meRoutes(services.knowledge, settings),
    ...projectTestRoutes(settings),
  ]
  const health = healthRoutes(settings)
  const fixed = [...metricsRoutes(settings), ...homeRoutes(settings), ...docsRoutes(settings)]
  const routes = [...below, ...health, ...fixed]
  const documentation = openApiRoutes(
    () => [...routes, ...documentation].map(({ doc }) => doc).concat(settings.extraDocs),
    settings,
  )
  const group = (setting: string, documented: readonly DocumentedRoute[]) => ({
    setting,
    routes: documented.map((route) => bindRoute(route, servicesOf)),
  })
  return [
    group('server.prefix', below),
    group('server.healthPath', health),
    group(fixedPath, [...fixed, ...documentation]),
  ]
}
