import type { TokenIssuer } from '../../../core/access/security-scheme.ts'
import { notFound } from '../../../core/error.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { Route } from '../../../http/router.ts'
import type { ServicesOf } from '../handler.ts'
import { createDiscovery } from './discovery.ts'
import { restErrorReply, rpcErrorReply } from './error.ts'
import type { Call } from './operations.ts'
import { createRest, pushOperation, type RestOperation, taskOperation } from './rest.ts'
import { createRpc } from './rpc.ts'
import { type UrlSettings, urlsFor } from './urls.ts'
import type { Version } from './versions.ts'

export interface OfficialSettings extends UrlSettings {
  /** Of the server. */
  version: string
  /** Whether requests need a key. */
  needsKey: boolean
  /** Of tokens that are taken beside keys; for the cards. */
  tokenIssuer?: TokenIssuer | undefined
  /** Cards can be read without a key. */
  publicCard: boolean
  /** Whose card is at the origin. */
  defaultAgent?: string | undefined
  pushNotifications: boolean
  fileBytes: number
  /** How long a request waits for the end of its task. */
  timeoutMs?: number | undefined
}

const cardNames = ['agent-card.json', 'agent.json']

/** The routes of A2A 1.0 (JSON-RPC, HTTP+JSON) and 0.3 (JSON-RPC). */
export function officialRoutes(servicesOf: ServicesOf, settings: OfficialSettings): Route[] {
  const { a2aPrefix, fileBytes, timeoutMs } = settings
  const agents = `${a2aPrefix}/agents`
  const agent = `${agents}/:id`
  const discovery = createDiscovery(servicesOf, settings)
  const cardScope = settings.publicCard ? 'open' : 'any'

  async function callOf(request: HttpRequest, params: Call['params'], version: Version): Promise<Call> {
    const services = await servicesOf(request)
    const agentId = request.params.id ?? ''
    if (services.registry.find(agentId) === undefined) throw notFound('agent', agentId)
    return { services, request, agentId, params, version, fileUrl: urlsFor(request, settings).file, fileBytes }
  }

  function rest(
    method: Route['method'],
    path: string,
    operationOf: (request: HttpRequest) => { operation: RestOperation; params?: Call['params'] },
  ): Route {
    const onError: Route['onError'] = (error) => restErrorReply(error)
    return { method, path: agent + path, scope: 'run', handler: createRest(callOf, operationOf), onError }
  }
  const always = (operation: RestOperation) => () => ({ operation })

  return [
    { method: 'GET', path: agents, scope: 'any', handler: discovery.list },
    { method: 'GET', path: agent, scope: cardScope, handler: discovery.card },
    ...cardNames.flatMap((name): Route[] => [
      { method: 'GET', path: `${agent}/.well-known/${name}`, scope: cardScope, handler: discovery.card },
      { method: 'GET', path: `/.well-known/${name}`, scope: cardScope, handler: discovery.originCard },
    ]),
    {
      method: 'POST',
      path: agent,
      scope: 'run',
      timeoutMs,
      handler: createRpc(callOf, a2aPrefix),
      onError: (error) => rpcErrorReply(error, null),
    },
    { ...rest('POST', '/message\\:send', always('send')), timeoutMs },
    rest('POST', '/message\\:stream', always('stream')),
    { ...rest('GET', '/tasks', always('list')), scope: ['run', 'sessions'] },
    rest('GET', '/tasks/:task', taskOperation),
    rest('POST', '/tasks/:task', taskOperation),
    rest('GET', '/extendedAgentCard', always('extendedCard')),
    rest('GET', '/tasks/:task/pushNotificationConfigs', pushOperation),
    rest('POST', '/tasks/:task/pushNotificationConfigs', pushOperation),
    rest('GET', '/tasks/:task/pushNotificationConfigs/:config', pushOperation),
    rest('DELETE', '/tasks/:task/pushNotificationConfigs/:config', pushOperation),
  ]
}
