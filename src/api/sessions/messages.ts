import { json } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { toList } from '../../wire/list.ts'
import { MessageHitList, MessagesQuery } from '../../wire/message.ts'
import { parseQuery } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Sessions', 'sessions')

export function messageRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', `${prefix}/messages`, 'searchMessages', {
      summary: 'Search messages, newest first',
      description:
        'Finds messages that contain all the words. Case and accents are ignored. The filters are the same as for listing sessions. A page may have fewer than `limit` ' +
        'messages, or none, although more pages follow. 503 while the search index is being built.',
      query: MessagesQuery,
      responses: { 200: jsonAnswer('A page of messages.', MessageHitList) },
      errors: [],
      handle: async (request, { sessions }) => {
        const { q, limit, cursor, ...filter } = parseQuery(MessagesQuery, request.query)
        return json(toList('messages', await sessions.search(q, filter, { limit, cursor })))
      },
    }),
  ]
}
