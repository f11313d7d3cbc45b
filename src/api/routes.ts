import type { Route } from '../http/route.ts'
import type { Services } from '../service/services.ts'
import { knowledgeRoutes } from './knowledge/knowledge.ts'
import { openApiRoutes } from './openapi/openapi.ts'
import type { DocumentedRoute } from './route/documented.ts'
import type { ApiSettings } from './route/settings.ts'
import { agentRoutes } from './runs/agents.ts'
import { runRoutes } from './runs/runs.ts'
import { backupRoutes } from './server/backup.ts'
import { docsRoutes } from './server/docs.ts'
import { healthRoutes } from './server/health.ts'
import { homeRoutes } from './server/home.ts'
import { metricsRoutes } from './server/metrics.ts'
import { sessionCopyRoutes } from './sessions/copies.ts'
import { historyRoutes } from './sessions/history.ts'
import { messageRoutes } from './sessions/messages.ts'
import { sessionRoutes } from './sessions/sessions.ts'
import { summaryRoutes } from './sessions/summaries.ts'
import { userRoutes } from './sessions/user-data.ts'

/**
 * Every route of the REST interface, documentation included. Mounting what another call gives, after agents or settings
 * have changed, brings the documentation up to date.
 */
export function apiRoutes(services: Services, settings: ApiSettings): Route[] {
  const routes: DocumentedRoute[] = [
    ...sessionRoutes(services, settings),
    ...sessionCopyRoutes(services, settings),
    ...summaryRoutes(services, settings),
    ...historyRoutes(services, settings),
    ...messageRoutes(services, settings),
    ...runRoutes(services, settings),
    ...agentRoutes(services, settings),
    ...knowledgeRoutes(services, settings),
    ...userRoutes(services, settings),
    ...backupRoutes(services, settings),
    ...healthRoutes(settings),
    ...metricsRoutes(settings),
    ...homeRoutes(settings),
    ...docsRoutes(),
  ]
  const documentation = openApiRoutes(
    () => [...routes, ...documentation].map(({ doc }) => doc).concat(settings.extraDocs),
    settings,
  )
  return [...routes, ...documentation]
}
