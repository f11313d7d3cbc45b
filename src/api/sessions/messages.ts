import { json } from '../../http/reply.ts'
import { toList } from '../../wire/list.ts'
import { MessageHitList, MessagesQuery } from '../../wire/message.ts'
import { parseQuery } from '../../wire/parse.ts'
import { type DocumentedRoute, documented } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'

/** Search in what was said. */
export function messageRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  return [
    documented(
      {
        method: 'GET',
        path: `${prefix}/messages`,
        operationId: 'searchMessages',
        scope: 'sessions',
        tag: 'Sessions',
        summary: 'Find messages by their words, the newest first',
        description:
          'Case and accents do not matter. The filters are those of the list of sessions. A page may have fewer than `limit` ' +
          'messages, or none, and be followed by others. 503 while the index of many messages is first made.',
        query: MessagesQuery,
        responses: { 200: { description: 'A page of messages.', content: { 'application/json': MessageHitList } } },
        errors: [],
      },
      async (request, { sessions }) => {
        const { q, limit, cursor, ...filter } = parseQuery(MessagesQuery, request.query)
        return json(toList('messages', await sessions.search(q, filter, { limit, cursor })))
      },
    ),
  ]
}
