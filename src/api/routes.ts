import type { Route } from '../http/route.ts'
import type { Services } from '../service/services.ts'
import { agentRoutes } from './agents.ts'
import { backupRoutes } from './backup.ts'
import { docsRoutes } from './docs.ts'
import type { DocumentedRoute } from './documented.ts'
import { healthRoutes } from './health.ts'
import { historyRoutes } from './history.ts'
import { homeRoutes } from './home.ts'
import { knowledgeRoutes } from './knowledge.ts'
import { messageRoutes } from './messages.ts'
import { metricsRoutes } from './metrics.ts'
import { openApiRoutes } from './openapi.ts'
import { runRoutes } from './runs.ts'
import { sessionCopyRoutes } from './session-copies.ts'
import { sessionRoutes } from './sessions.ts'
import type { ApiSettings } from './settings.ts'
import { summaryRoutes } from './summaries.ts'
import { userRoutes } from './users.ts'

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
