import { json } from '../http/reply.ts'
import type { Services, SessionHistory } from '../service/services.ts'
import { History, HistoryQuery } from '../wire/history.ts'
import { parseQuery } from '../wire/parse.ts'
import { type DocumentedRoute, documented } from './documented.ts'
import { pathId, readFor } from './path-id.ts'
import { toRun } from './run-answer.ts'
import { toWireEvent } from './run-stream.ts'
import type { ApiSettings } from './settings.ts'

/** What was said in a session. */
export function historyRoutes({ sessions }: Services, { prefix }: ApiSettings): DocumentedRoute[] {
  return [
    documented(
      {
        method: 'GET',
        path: `${prefix}/sessions/:id/history`,
        operationId: 'getHistory',
        scope: 'sessions',
        tag: 'Sessions',
        summary: 'Read the conversation',
        params: { id: 'The session.' },
        query: HistoryQuery,
        responses: { 200: { description: 'The latest interactions.', content: { 'application/json': History } } },
        errors: ['session_not_found'],
      },
      async (request) => {
        const id = pathId(request)
        const query = await readFor(
          () => sessions.get(id),
          () => parseQuery(HistoryQuery, request.query),
        )
        return json(toHistory(id, await sessions.history(id, query.num_messages, query.stream_events)))
      },
    ),
  ]
}

function toHistory(sessionId: string, history: SessionHistory): History {
  const { events } = history
  const eventsOf = (runId: string) => (events?.get(runId) ?? []).map((event) => toWireEvent(event, false))
  return {
    session_id: sessionId,
    messages: history.runs.flatMap((run) => run.messages),
    runs: history.runs.map((run) => (events ? { ...toRun(run), events: eventsOf(run.run_id) } : toRun(run))),
    summary: history.summary,
    has_more: history.has_more,
  }
}
