import { type DocResponse, jsonAnswer, type RouteDoc } from '../../../wire/document/route-doc.ts'
import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from '../../../wire/protocols/openai.ts'
import { openaiRefused } from '../docs.ts'

const headers = {
  'X-Run-Id': 'The run.',
  'X-Session-Id': 'The session.',
  'X-Agentserve-Ignored': 'The fields of the request that the run does not use.',
}
const stream: DocResponse = {
  description: 'The answer, or with `stream` its chunks: one `data:` line each, then `[DONE]`.',
  content: { 'text/event-stream': ChatCompletionChunk },
  headers,
}

export function completionDocs(prefix: string): RouteDoc[] {
  const answer = jsonAnswer(stream.description, ChatCompletion, headers)
  return [
    {
      tag: 'OpenAI',
      method: 'POST',
      path: `${prefix}/chat/completions`,
      operationId: 'createChatCompletion',
      scope: 'run',
      summary: 'Answer a chat completion of OpenAI',
      description:
        'The session is that of `X-Session-Id`, `X-OpenWebUI-Chat-Id` or `metadata.session_id`; an unknown one is created. Without a name it ' +
        'is the one that a completed turn of the same conversation left, for requests that tell the end user, and else a new one with the posted ' +
        'messages as its history. The outcomes of client tools resume their run.',
      headers: {
        'X-Session-Id': 'The session.',
        'X-OpenWebUI-Chat-Id': 'The session, without `X-Session-Id`.',
        'X-On-Disconnect': '`continue`: the run goes on when the client leaves. Default: `cancel`, after 2 seconds.',
        'X-Stainless-Retry-Count': 'Sent by the clients of OpenAI: a retry joins the run of the first request.',
      },
      body: { required: true, content: { 'application/json': ChatCompletionRequest } },
      responses: {
        200: { ...answer, content: { ...answer.content, ...stream.content } },
        ...openaiRefused(400, 401, 403, 404, 408, 409, 413, 415, 421, 429, 500, 503, 504, 507),
      },
    },
  ]
}
