import { json, stream } from '../../http/reply.ts'
import { encodeLarge, isLarge } from '../../runtime/json.ts'
import type { Costs, SessionHistory } from '../../service/services.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { History, HistoryQuery } from '../../wire/history.ts'
import { parseQuery } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toRun } from '../runs/answer.ts'
import { toSentEvent } from '../runs/stream.ts'

const route = routesAbout('Sessions', 'sessions')

export function historyRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', `${prefix}/sessions/:id/history`, 'getHistory', {
      summary: 'Get the conversation',
      params: { id: 'The session.' },
      query: HistoryQuery,
      responses: {
        200: jsonAnswer('The latest interactions (runs with their messages).', History),
      },
      errors: ['session_not_found', 'run_not_found'],
      handle: async (request, { sessions, costs }) => {
        const id = pathId(request)
        await sessions.get(id)
        const { num_messages: count, stream_events: events, ...query } = parseQuery(HistoryQuery, request.query)
        const view = query.before === undefined && !query.replaced ? undefined : query
        const history = await sessions.history(id, count, events, view)
        const shown = toHistory(id, history, costs)
        if (history.events === undefined) return json(shown)
        return stream(withEvents(shown, history.events, costs), 'application/json; charset=utf-8')
      },
    }),
  ]
}

function toHistory(sessionId: string, history: SessionHistory, costs: Costs): History {
  return {
    session_id: sessionId,
    messages: history.runs.flatMap((run) => run.messages),
    runs: history.runs.map((run) => toRun(run, costs)),
    summary: history.summary,
    has_more: history.has_more,
  }
}

/** The same JSON with `events` in each run. Streamed, because all events together may take hundreds of megabytes. */
async function* withEvents(
  { runs, ...rest }: History,
  read: NonNullable<SessionHistory['events']>,
  costs: Costs,
): AsyncGenerator<string | Uint8Array> {
  yield '{'
  for (const [name, value] of Object.entries(rest)) {
    yield `${JSON.stringify(name)}:`
    yield* encodeLarge(value)
    yield ','
  }
  yield '"runs":['
  for (const [index, run] of runs.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(run).slice(0, -1)},"events":[`
    let before = ''
    for await (const events of read(run.run_id)) {
      let small = ''
      for (const event of events) {
        const wire = toSentEvent(event, false, costs)
        small += before
        before = ','
        if (!isLarge(wire)) small += JSON.stringify(wire)
        else {
          yield small
          small = ''
          yield* encodeLarge(wire)
        }
      }
      if (small !== '') yield small
    }
    yield ']}'
  }
  yield ']}'
}
