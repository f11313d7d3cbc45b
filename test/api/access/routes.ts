import type { ApiSettings } from '../../../src/api/route/settings.ts'
import { apiRoutes } from '../../../src/api/routes.ts'
import { studioDocs, studioRoutes } from '../../../src/api/server/studio.ts'
import type { Access } from '../../../src/core/access/scope.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { protectedResource } from '../../../src/http/tokens/resource.ts'
import { a2aRoutes } from '../../../src/protocols/a2a/a2a.ts'
import { a2aDocs } from '../../../src/protocols/a2a/docs.ts'
import { officialDocs } from '../../../src/protocols/a2a/official/docs.ts'
import { officialRoutes } from '../../../src/protocols/a2a/official/official.ts'
import { agUiRoutes } from '../../../src/protocols/ag-ui/ag-ui.ts'
import { agUiDocs } from '../../../src/protocols/ag-ui/docs.ts'
import { chatRoutes } from '../../../src/protocols/chat/chat.ts'
import { chatDocs } from '../../../src/protocols/chat/docs.ts'
import { Leaving } from '../../../src/protocols/leaving.ts'
import { mcpDocs } from '../../../src/protocols/mcp/docs.ts'
import { createMcp, type McpSettings } from '../../../src/protocols/mcp/mcp.ts'
import { completionRoutes } from '../../../src/protocols/openai/completions/completions.ts'
import { completionDocs } from '../../../src/protocols/openai/completions/docs.ts'
import { openaiDocs } from '../../../src/protocols/openai/docs.ts'
import { type OpenAISettings, openaiRoutes } from '../../../src/protocols/openai/openai.ts'
import { responseDocs } from '../../../src/protocols/openai/responses/docs.ts'
import { responseRoutes } from '../../../src/protocols/openai/responses/responses.ts'
import { protectedResourceDocs, protectedResourceRoutes } from '../../../src/protocols/protected-resource.ts'
import { systemTimers } from '../../../src/runtime/timers.ts'
import type { Live } from '../../../src/service/live/live.ts'
import type { Services } from '../../../src/service/services.ts'
import type { RouteDoc } from '../../../src/wire/document/route-doc.ts'

export interface MountedRoute {
  method: string
  path: string
  scope: Access
  timeoutMs: number | undefined
  doc: RouteDoc
}

const never = () => {
  throw new Error('nothing is called')
}

/** Every route that a server with everything switched on mounts, in the order in which it does. */
export function mountedRoutes(): MountedRoute[] {
  const services = { registry: { ids: () => [] }, knowledge: {} } as unknown as Services
  const a2aPrefix = '/api/v1/a2a'
  const resource = protectedResource(
    { issuer: '', audience: [], userClaim: 'sub', scopePrefix: '', clockSkew: 0 },
    { paths: ['/mcp'] },
  )
  const extraDocs = [
    ...a2aDocs(a2aPrefix),
    ...officialDocs(a2aPrefix, false),
    ...chatDocs('/api/v1'),
    ...agUiDocs('/api/v1'),
    ...openaiDocs('/v1'),
    ...completionDocs('/v1'),
    ...mcpDocs('/mcp'),
    ...responseDocs('/v1'),
    ...studioDocs('/studio'),
    ...protectedResourceDocs(resource),
  ]
  const settings: ApiSettings = {
    prefix: '/api/v1',
    healthPath: '/health',
    knowledgeApi: { search: true, config: true, content: true, documents: true },
    a2aPrefix,
    chat: true,
    runTimeoutMs: 1000,
    importBytes: 1,
    version: '0',
    startedAtMs: 0,
    serverId: 'srv_test',
    mode: 'dev',
    root: '/project',
    again: true,
    audited: true,
    savedTest: never,
    projectTests: { list: never, save: never, run: never, runs: never },
    clock: Date.now,
    authRequired: true,
    live: {} as Live,
    readiness: never,
    metrics: never,
    extraDocs,
  }
  const others = new Map(extraDocs.map((doc) => [`${doc.method} ${doc.path}`, doc]))
  const official = {
    prefix: '/api/v1',
    version: '0',
    needsKey: true,
    publicCard: false,
    pushNotifications: true,
    fileBytes: 1000,
    timeoutMs: 1000,
  }
  const openai: OpenAISettings = {
    prefix: '/v1',
    services: never,
    startedAtMs: 0,
    sessionFromUser: false,
    showTools: false,
    leaving: new Leaving(systemTimers),
    maxFiles: 1,
    fileBytes: 1,
    timeoutMs: 1000,
  }
  const studio = {
    path: '/studio',
    prefix: '/api/v1',
    a2aPrefix,
    chat: true,
    healthPath: '/health',
    version: '0',
    credential: 'API key',
  }
  const mcp: McpSettings = {
    path: '/mcp',
    approveByTool: false,
    version: '0',
    services: never,
    registry: services.registry,
    knowledge: true,
    folder: undefined,
    isOpen: false,
    logger: silentLogger,
  }
  // Not the refusals of all other paths.
  const openaiMounted = openaiRoutes(openai).filter(({ path }) => !path.endsWith('/**'))
  return [
    ...apiRoutes(services, settings),
    ...a2aRoutes(never, a2aPrefix, 1000, 1000),
    ...officialRoutes(never, { ...official, a2aPrefix }),
    ...chatRoutes({ prefix: '/api/v1', services: never, maxFiles: 1 }, 1000),
    ...agUiRoutes({ ...openai, prefix: '/api/v1' }),
    ...responseRoutes(openai),
    ...openaiMounted,
    ...completionRoutes(openai),
    // Not the refusals of other methods.
    ...createMcp(mcp).routes.filter(({ method }) => method === 'POST'),
    // Not every address of its page.
    ...protectedResourceRoutes(resource),
    ...studioRoutes(studio).filter(({ path }) => !path.endsWith('/**')),
  ].map((route) => {
    const { method, scope, timeoutMs } = route
    const path = route.path.replace('**:', ':')
    const doc = 'doc' in route ? (route.doc as RouteDoc) : others.get(`${method} ${path}`)
    if (doc === undefined) throw new Error(`${method} ${path} is not documented`)
    return { method, path: path.replace(/\/:(\w+)/g, '/{$1}').replaceAll('\\:', ':'), scope, timeoutMs, doc }
  })
}
