import { runRefusals } from '../../wire/document/refusals.ts'
import { type DocResponse, jsonAnswer, PlainText, type RouteDoc } from '../../wire/document/route-doc.ts'
import {
  ChatChunk,
  ChatHistory,
  ChatHistoryQuery,
  ChatQuery,
  ChatRequest,
  ChatStop,
  ChatStopped,
  ChatStreamQuery,
} from '../../wire/protocols/chat.ts'

const refusals: Readonly<Record<number, string>> = {
  ...runRefusals,
  404: 'There is no such agent or chat.',
  422: 'The message id was used with other parts.',
}

const headers = { 'X-Run-Id': 'The run.', 'X-Session-Id': 'The session: the chat.' }
const stream: DocResponse = {
  description: 'The UI message stream: one `data:` line per chunk, then `[DONE]`.',
  content: { 'text/event-stream': ChatChunk },
  headers,
}
const agent = 'The agent, team or workflow.'

/** `entityIds`: examples. */
export function chatDocs(prefix: string, entityIds: readonly string[] = []): RouteDoc[] {
  const path = `${prefix}/chat/:agent`
  const same = { tag: 'Chat', params: { agent, chat_id: 'The `id` of useChat.' }, examples: { agent: entityIds } }
  return [
    {
      ...same,
      params: { agent },
      method: 'POST',
      path,
      operationId: 'postChat',
      scope: 'run',
      summary: 'Answer what useChat posts',
      description:
        'The `api` of `useChat` (AI SDK 5, 6 and 7). Starts a run for a new message, joins the run of one that comes again, replaces a turn ' +
        'that is edited or regenerated, and resumes a run whose approval or client tool is answered. Errors are plain text; the header ' +
        '`X-Error-Code` has the code.',
      query: ChatQuery,
      body: { required: true, content: { 'application/json': ChatRequest } },
      responses: { 200: stream, ...refused(400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 500, 503, 507) },
    },
    {
      ...same,
      method: 'GET',
      path: `${path}/:chat_id/stream`,
      operationId: 'streamChat',
      scope: 'run',
      summary: 'Stream the answer that is under way',
      description: 'From its beginning, for `useChat({ resume: true })`.',
      query: ChatStreamQuery,
      responses: {
        200: stream,
        204: { description: 'Nothing is under way. Unknown chats are the same.' },
        ...refused(400, 401, 403, 404, 421, 429, 500, 503),
      },
    },
    {
      ...same,
      method: 'POST',
      path: `${path}/:chat_id/stop`,
      operationId: 'stopChat',
      scope: 'run',
      summary: 'Stop the answer that is under way',
      body: { required: false, content: { 'application/json': ChatStop } },
      responses: {
        200: jsonAnswer('It is stopped, or nothing was under way.', ChatStopped),
        ...refused(400, 401, 403, 404, 408, 413, 415, 421, 429, 500, 503, 507),
      },
    },
    {
      ...same,
      method: 'GET',
      path: `${path}/:chat_id`,
      operationId: 'getChat',
      scope: 'sessions',
      summary: 'Get the messages of a chat',
      description: 'For `useChat({ id, messages })`, after the page is loaded again.',
      query: ChatHistoryQuery,
      responses: {
        200: jsonAnswer('The conversation.', ChatHistory),
        ...refused(400, 401, 403, 404, 421, 429, 500, 503),
      },
    },
  ]
}

function refused(...statuses: number[]): Record<number, DocResponse> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: refusals[status] ?? '',
        content: { 'text/plain': PlainText },
        headers: { 'X-Error-Code': 'The code of the error.' },
      },
    ]),
  )
}
