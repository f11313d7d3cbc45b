import { json } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { parseQuery } from '../../wire/parse.ts'
import { SummaryAnswer, SummaryQuery, SummaryScheduled } from '../../wire/summary.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'

const route = routesAbout('Sessions', 'sessions')

const params = { id: 'The session.' }
const summaryAnswer = jsonAnswer('The summary.', SummaryAnswer)

export function summaryRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  const path = `${prefix}/sessions/:id/summary`
  return [
    route('GET', path, 'getSummary', {
      summary: 'Get the latest summary',
      params,
      responses: { 200: summaryAnswer },
      errors: ['session_not_found', 'summary_not_found'],
      handle: async (request, { summaries }) => json({ summary: await summaries.get(pathId(request)) }),
    }),
    route('POST', path, 'createSummary', {
      summary: 'Summarise a session',
      params,
      query: SummaryQuery,
      responses: {
        200: summaryAnswer,
        202: jsonAnswer('The summary will be written, even if the server restarts.', SummaryScheduled),
      },
      errors: ['session_not_found', 'summary_failed', 'summary_not_configured', 'timeout'],
      handle: async (request, { summaries, sessions }) => {
        const id = pathId(request)
        await sessions.get(id)
        const query = parseQuery(SummaryQuery, request.query)
        if (!query.async) return json({ summary: await summaries.generate(id) })
        await summaries.schedule(id)
        return json({ status: 'scheduled', session_id: id }, 202)
      },
    }),
  ]
}
