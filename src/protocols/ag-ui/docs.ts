import { runRefusals } from '../../wire/document/refusals.ts'
import { type DocResponse, jsonAnswer, type RouteDoc } from '../../wire/document/route-doc.ts'
import { ErrorBody } from '../../wire/error.ts'
import { AgUiEvent, AgUiInput, AgUiThreadQuery } from '../../wire/protocols/ag-ui.ts'

const refusals: Readonly<Record<number, string>> = {
  ...runRefusals,
  404: 'There is no such agent or thread.',
  409: 'The thread is busy.',
  422: 'The `runId` was used with another message.',
}

const stream: DocResponse = {
  description: 'The events of AG-UI: one `data:` line each.',
  content: { 'text/event-stream': AgUiEvent },
  headers: { 'X-Run-Id': 'Our run.', 'X-Session-Id': 'The session: the thread.' },
}
const agent = 'The agent, team or workflow.'

/** `entityIds`: examples. */
export function agUiDocs(prefix: string, entityIds: readonly string[] = []): RouteDoc[] {
  const path = `${prefix}/ag-ui/:agent`
  const same = { tag: 'AG-UI', examples: { agent: entityIds } }
  return [
    {
      ...same,
      params: { agent },
      method: 'POST',
      path,
      operationId: 'runAgUi',
      scope: 'run',
      summary: 'Run an agent for a client of AG-UI',
      description:
        'The `url` of an `HttpAgent`. Starts a run for a new message, follows the one that comes again with the same `runId`, replaces a ' +
        'turn whose message comes under another `runId`, and resumes a run whose interrupts or tools are answered.',
      body: { required: true, content: { 'application/json': AgUiInput } },
      responses: { 200: stream, ...refused(400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 500, 503, 507) },
    },
    {
      ...same,
      params: { agent, thread_id: 'The `threadId`.' },
      method: 'GET',
      path: `${path}/threads/:thread_id`,
      operationId: 'connectAgUi',
      scope: 'sessions',
      summary: 'Get the messages of a thread, and follow the answer that is under way',
      description: 'A run of its own: `MESSAGES_SNAPSHOT`, `STATE_SNAPSHOT`, and then the events of the active run.',
      query: AgUiThreadQuery,
      responses: { 200: stream, ...refused(400, 401, 403, 404, 421, 429, 500, 503) },
    },
  ]
}

function refused(...statuses: number[]): Record<number, DocResponse> {
  return Object.fromEntries(statuses.map((status) => [status, jsonAnswer(refusals[status] ?? '', ErrorBody)]))
}
