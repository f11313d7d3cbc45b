import type { JsonObject } from '../../../core/json.ts'
import type { Session } from '../../../core/session.ts'
import { json, type Reply } from '../../../http/reply.ts'
import type { HttpRequest } from '../../../http/request.ts'
import { isFields, listField, wrong } from '../../fields.ts'
import { unsupported } from '../error.ts'
import type { OpenAIServicesOf } from '../openai.ts'
import { readMetadata } from './request.ts'

/** A conversation is a session, and its id that of the session. */
function toConversation({ session_id, created_at, metadata }: Session): JsonObject {
  const texts = Object.entries(metadata ?? {}).filter(([, value]) => typeof value === 'string')
  return {
    id: session_id,
    object: 'conversation',
    created_at: Math.floor(Date.parse(created_at) / 1000),
    metadata: Object.fromEntries(texts),
  }
}

export function createConversations(servicesOf: OpenAIServicesOf) {
  const idIn = ({ params }: HttpRequest) => params.conversation_id ?? ''

  return {
    async create(request: HttpRequest): Promise<Reply> {
      const body = (await request.body.json()) ?? {}
      if (!isFields(body)) throw wrong('The body', 'a JSON object')
      if ((listField(body, 'items')?.length ?? 0) > 0) {
        throw unsupported('A conversation begins with its first response: send items as its input.', 'items')
      }
      const { session } = await servicesOf(request).sessions.create({ metadata: readMetadata(body) })
      return json(toConversation(session))
    },
    async get(request: HttpRequest): Promise<Reply> {
      const { session } = await servicesOf(request).sessions.get(idIn(request))
      return json(toConversation(session))
    },
    async remove(request: HttpRequest): Promise<Reply> {
      const id = idIn(request)
      await servicesOf(request).sessions.delete(id)
      return json({ id, object: 'conversation.deleted', deleted: true })
    },
  }
}
