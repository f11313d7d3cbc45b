import { refusals as common } from '../../wire/document/refusals.ts'
import type { DocResponse, RouteDoc } from '../../wire/document/route-doc.ts'
import {
  A2AFailure,
  type A2AMethod,
  A2ARequest,
  A2AResponse,
  A2AStreamEvent,
  a2aMethods,
} from '../../wire/protocols/a2a.ts'
import { a2aPath } from './path.ts'

const refusals: Readonly<Record<number, string>> = {
  ...common,
  403: 'The origin is not allowed, or the key does not have the scope `run`.',
}

const runHeaders = { 'X-Run-Id': 'The run, for `/runs/{id}/events`.', 'X-Session-Id': 'The session: `contextId`.' }

export function a2aDocs(prefix: string): RouteDoc[] {
  return a2aMethods.map((method) => ({
    method: 'POST',
    path: a2aPath(prefix, method),
    operationId: method,
    scope: 'run',
    tag: 'A2A',
    summary: method === 'sendMessage' ? 'Send a message and wait for the task' : 'Send a message and stream the reply',
    description:
      'JSON-RPC 2.0. Errors have HTTP status 200 and an `error`: -32700 parse error, -32600 invalid request, ' +
      '-32601 method not found, -32602 invalid params, -32603 internal error. Requests refused before they reach JSON-RPC keep their HTTP status.',
    headers: { 'Idempotency-Key': 'Identifies a retried request instead of `messageId`.' },
    body: { required: true, content: { 'application/json': A2ARequest } },
    responses: { 200: success(method), ...refused() },
  }))
}

function success(method: A2AMethod): DocResponse {
  if (method === 'sendMessage') {
    return { description: 'The task, or an error.', content: { 'application/json': A2AResponse }, headers: runHeaders }
  }
  return {
    description:
      'One `data:` line per event: `content` for each fragment of text, `error` if the run does not complete, then ' +
      '`done`. An error before the first event is JSON.',
    content: { 'text/event-stream': A2AStreamEvent, 'application/json': A2AFailure },
    headers: runHeaders,
  }
}

function refused(): Record<number, DocResponse> {
  const responses: Record<number, DocResponse> = {}
  for (const [status, description] of Object.entries(refusals)) {
    responses[Number(status)] = { description, content: { 'application/json': A2AFailure } }
  }
  return responses
}
