import { json, type Reply } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { OpenAIServicesOf } from './openai.ts'

/** `created`: when the server started, in seconds. */
export function createModels(servicesOf: OpenAIServicesOf, created: number) {
  const model = (id: string) => ({ id, object: 'model', created, owned_by: 'agentserve' })

  return {
    /** `GET /models`: agents, teams and workflows. Clients look here whether a connection works. */
    list(request: HttpRequest): Reply {
      const { registry } = servicesOf(request)
      return json({ object: 'list', data: registry.ids().map(model) })
    },
    /** `GET /models/{id}`. */
    get(request: HttpRequest): Reply {
      const { model: id = '' } = request.params
      // Throws when there is none.
      servicesOf(request).registry.get(id)
      return json(model(id))
    },
  }
}
