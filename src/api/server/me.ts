import { scopes } from '../../core/access/scope.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { json } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { Me } from '../../wire/me.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { maySeePrompts } from '../route/included-prompts.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Server', 'any')

export function meRoutes(knowledge: Knowledge | undefined, settings: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', `${settings.prefix}/me`, 'getMe', {
      summary: 'Show what the key may do, and which server this is',
      responses: { 200: jsonAnswer('The caller and the server.', Me) },
      errors: [],
      handle: (request) => json(toMe(request, knowledge, settings)),
    }),
  ]
}

function toMe(request: HttpRequest, knowledge: Knowledge | undefined, settings: ApiSettings): Me {
  const { mode, version, serverId, root, authRequired } = settings
  const isOperator = request.scopes === undefined
  return {
    user_id: request.userId ?? null,
    ...(authRequired && { key_id: request.caller }),
    scopes: request.scopes === undefined ? [...scopes] : [...request.scopes],
    can: whatCan(request, knowledge, settings),
    mode,
    version,
    server_id: serverId,
    ...(mode === 'dev' && isOperator && { root }),
  }
}

/** What the caller may do besides what its scopes say. */
export function whatCan(
  request: HttpRequest,
  knowledge: Knowledge | undefined,
  { again, knowledgeApi, projectTests }: ApiSettings,
): Me['can'] {
  const isOperator = request.scopes === undefined
  const writesKnowledge = knowledge !== undefined && (knowledgeApi.content || knowledgeApi.documents)
  return {
    again: isOperator && again,
    tests: isOperator && projectTests !== undefined,
    config: isOperator,
    knowledge: writesKnowledge && request.scopes?.has('knowledge:write') !== false,
    prompts: maySeePrompts(request),
  }
}
