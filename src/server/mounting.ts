import type { ApiSettings } from '../api/route/settings.ts'
import { apiRouteGroups } from '../api/routes.ts'
import { studioDocs, studioRoutes } from '../api/server/studio.ts'
import { needsKey } from '../config/needs-key.ts'
import type { ResolvedServerConfig } from '../config/types.ts'
import { credentialOf } from '../core/access/security-scheme.ts'
import type { SessionStore } from '../core/store.ts'
import type { Kernel } from '../http/kernel.ts'
import { urlOf } from '../http/listen.ts'
import { fixedPath, type RouteGroup } from '../http/meeting.ts'
import type { Route } from '../http/router.ts'
import { configurationUrl } from '../http/tokens/metadata.ts'
import type { ProtectedResource } from '../http/tokens/resource.ts'
import { a2aRoutes } from '../protocols/a2a/a2a.ts'
import { a2aDocs } from '../protocols/a2a/docs.ts'
import { officialDocs } from '../protocols/a2a/official/docs.ts'
import { officialRoutes } from '../protocols/a2a/official/official.ts'
import { agUiRoutes } from '../protocols/ag-ui/ag-ui.ts'
import { agUiDocs } from '../protocols/ag-ui/docs.ts'
import { chatRoutes } from '../protocols/chat/chat.ts'
import { chatDocs } from '../protocols/chat/docs.ts'
import { Leaving } from '../protocols/leaving.ts'
import { mcpDocs } from '../protocols/mcp/docs.ts'
import { createMcp, type McpEndpoint } from '../protocols/mcp/mcp.ts'
import { completionRoutes } from '../protocols/openai/completions/completions.ts'
import { completionDocs } from '../protocols/openai/completions/docs.ts'
import { openaiDocs } from '../protocols/openai/docs.ts'
import { type OpenAISettings, openaiRoutes } from '../protocols/openai/openai.ts'
import { responseDocs } from '../protocols/openai/responses/docs.ts'
import { responseRoutes } from '../protocols/openai/responses/responses.ts'
import { protectedResourceDocs, protectedResourceRoutes } from '../protocols/protected-resource.ts'
import { systemTimers } from '../runtime/timers.ts'
import type { Audit } from '../service/audit/audit.ts'
import type { Services } from '../service/services.ts'
import { servicesPerCaller } from './caller-services.ts'
import { isLocal } from './listen.ts'
import { assertNoClash } from './path-clash.ts'
import { servedStudio } from './served-studio.ts'
import { savedTestOf } from './tests/saved-test-of.ts'
import type { HealthRouter } from './types.ts'

export interface MountingOptions
  extends Pick<
    ApiSettings,
    | 'version'
    | 'startedAtMs'
    | 'serverId'
    | 'live'
    | 'mode'
    | 'root'
    | 'projectTests'
    | 'clock'
    | 'readiness'
    | 'metrics'
  > {
  kernel: Kernel
  services: Services
  store: SessionStore
  server: ResolvedServerConfig
  /** Where MCP keeps what must survive a restart. */
  folder: string | undefined
  /** For the other commands of the data folder. */
  folderRoutes: readonly Route[]
  /** The config's. */
  file: string | undefined
  /** Whether runs record the trace of their request. */
  traced: boolean
  /** Absent when it is off. */
  audit: Audit | undefined
  /** Present when tokens are taken. */
  resource: ProtectedResource | undefined
}

export interface Mounting {
  /** Mounts all routes, and documentation of the current agents. The first time it checks them. */
  mount(): void
  /** Tells MCP hosts that listen; after `mount`. */
  agentsChanged(): void
  /** Ends the streams that nothing else ends. */
  close(): void
  /** Throws a ConfigError that names both when two settings lead to the same path. The user's own routes may replace ours. */
  check(): void
  /** For the user's own handlers; a route takes effect at once. */
  healthRouter(path?: string): HealthRouter
}

/** REST, A2A, useChat, AG-UI, OpenAI, MCP and the user's own routes; the user's win. */
export function createMounting(options: MountingOptions): Mounting {
  const { kernel, services, store, server, file, folder, folderRoutes, traced, audit, resource, ...about } = options
  const servicesOf = servicesPerCaller(services, store, server, traced, audit)
  const { a2a, agUi, chat, openai, prefix, limits, runTimeoutMs } = server
  const isProtected = needsKey(server)
  const tokenIssuer = server.jwt && {
    openIdUrl: configurationUrl(server.jwt.issuer),
    alone: server.authKeys.length === 0,
  }
  const official = {
    ...a2a,
    a2aPrefix: a2a.prefix,
    prefix,
    version: about.version,
    needsKey: isProtected,
    tokenIssuer,
    pushNotifications: a2a.push !== undefined,
    fileBytes: limits.fileBytes,
    timeoutMs: runTimeoutMs,
  }
  const leaving = new Leaving(systemTimers)
  const openaiSettings: OpenAISettings | undefined =
    openai === false
      ? undefined
      : {
          ...openai,
          services: servicesOf,
          leaving,
          startedAtMs: about.startedAtMs,
          maxFiles: limits.run.files,
          fileBytes: limits.fileBytes,
          timeoutMs: runTimeoutMs,
        }
  const mcp = createMcpEndpoint()
  const path = servedStudio(server)
  const { host = 'localhost', port } = server.address
  const { version } = about
  const studio = path === undefined ? undefined : { path, prefix, version, credential: credentialOf(tokenIssuer) }
  const own: Route[] = []

  function createMcpEndpoint(): McpEndpoint | undefined {
    if (server.mcp === false) return undefined
    const { search, documents } = server.knowledgeApi
    return createMcp({
      ...server.mcp,
      version: about.version,
      services: servicesOf,
      registry: services.registry,
      knowledge: services.knowledge !== undefined && search && documents,
      folder,
      isOpen: !isProtected && !isLocal(server.address.host),
      logger: services.logger,
    })
  }

  function groups(): RouteGroup<Route>[] {
    const settings: ApiSettings = {
      ...about,
      prefix,
      savedTest: savedTestOf,
      studioPath: studio?.path,
      healthPath: server.healthPath,
      // A command listens nowhere: the server's address is the one that is configured.
      publicUrl: a2a.publicUrl ?? (about.mode === 'command' ? urlOf(host, port) : undefined),
      audited: server.audit.isOn,
      chat,
      again: about.mode === 'dev' || about.mode === 'command' || (server.studio !== false && server.studio.again),
      knowledgeApi: server.knowledgeApi,
      a2aPrefix: a2a.prefix,
      runTimeoutMs,
      importBytes: server.limits.importBytes,
      authRequired: isProtected,
      tokenIssuer,
      extraDocs: [
        ...a2aDocs(a2a.prefix),
        ...officialDocs(a2a.prefix, a2a.publicCard),
        ...(chat ? chatDocs(prefix, services.registry.ids()) : []),
        ...(agUi ? agUiDocs(prefix, services.registry.ids()) : []),
        ...(server.mcp === false ? [] : mcpDocs(server.mcp.path)),
        ...(resource === undefined ? [] : protectedResourceDocs(resource)),
        ...(studio === undefined ? [] : studioDocs(studio.path)),
        ...(openaiSettings === undefined
          ? []
          : [openaiDocs, completionDocs, responseDocs].flatMap((docsOf) => docsOf(openaiSettings.prefix))),
      ],
    }
    const a2aOwn = [
      ...a2aRoutes(servicesOf, a2a.prefix, limits.fileBytes, runTimeoutMs),
      ...officialRoutes(servicesOf, official),
    ]
    const isFixed = ({ path }: Route) => path.startsWith('/.well-known/')
    const chatOwn = chat ? chatRoutes({ prefix, services: servicesOf, maxFiles: limits.run.files }, runTimeoutMs) : []
    const agUiOwn = agUi
      ? agUiRoutes({ prefix, services: servicesOf, leaving, maxFiles: limits.run.files, timeoutMs: runTimeoutMs })
      : []
    return [
      ...apiRouteGroups(services, settings, servicesOf),
      { setting: 'server.a2a.prefix', routes: a2aOwn.filter((route) => !isFixed(route)) },
      { setting: fixedPath, routes: a2aOwn.filter(isFixed) },
      { setting: fixedPath, routes: resource === undefined ? [] : protectedResourceRoutes(resource) },
      { setting: 'server.prefix', routes: [...chatOwn, ...agUiOwn] },
      {
        setting: 'server.openai.prefix',
        routes:
          openaiSettings === undefined
            ? []
            : [openaiRoutes, completionRoutes, responseRoutes].flatMap((routesOf) => routesOf(openaiSettings)),
      },
      { setting: 'server.mcp.path', routes: mcp?.routes ?? [] },
      { setting: 'server.studio.path', routes: studio === undefined ? [] : studioRoutes(studio) },
    ]
  }

  let isChecked = false
  function mount(): void {
    const all = groups()
    if (!isChecked) assertNoClash(all, server, file)
    isChecked = true
    kernel.setRoutes([...all.flatMap(({ routes }) => routes), ...folderRoutes, ...own])
  }

  return {
    mount,
    agentsChanged: () => mcp?.agentsChanged(),
    close: () => mcp?.close(),
    check: () => assertNoClash(groups(), server, file),
    healthRouter(path = server.healthPath) {
      return {
        route({ method = 'GET', handler }) {
          own.push({ method, path, scope: 'open', handler })
          mount()
        },
      }
    },
  }
}
