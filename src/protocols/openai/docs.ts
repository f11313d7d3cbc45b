import { type DocResponse, jsonAnswer, type RouteDoc } from '../../wire/document/route-doc.ts'
import { OpenAIErrorBody, OpenAIModel, OpenAIModels } from '../../wire/protocols/openai.ts'

const refusals: Record<number, string> = {
  400: 'The request is not valid, or asks for what agents can not do.',
  401: 'The API key is missing or not valid.',
  403: 'The origin is not allowed, or the key does not have the scope.',
  404: 'There is no such model, response or conversation.',
  408: 'The body did not arrive in time.',
  409: 'What waited has another answer, or the session is busy.',
  413: 'The body or a file is too large.',
  415: 'The body is not JSON.',
  421: 'The Host is not allowed.',
  429: 'Too many requests or runs. Retry after the time in Retry-After.',
  500: 'Internal error, or the run failed.',
  503: 'The server is stopping or at capacity.',
  504: 'The run took too long.',
  507: 'The disk is full.',
}

/** Refusals in OpenAI's shape. */
export function openaiRefused(...statuses: number[]): Record<number, DocResponse> {
  return Object.fromEntries(statuses.map((status) => [status, jsonAnswer(refusals[status] ?? '', OpenAIErrorBody)]))
}

export function openaiDocs(prefix: string): RouteDoc[] {
  const same = { tag: 'OpenAI', method: 'GET', scope: 'any' } as const
  return [
    {
      ...same,
      path: `${prefix}/models`,
      operationId: 'listOpenAIModels',
      summary: 'List agents, teams and workflows as models',
      responses: { 200: jsonAnswer('The models.', OpenAIModels), ...openaiRefused(401, 403, 421, 429, 500) },
    },
    {
      ...same,
      path: `${prefix}/models/:model`,
      operationId: 'getOpenAIModel',
      summary: 'Get an agent, team or workflow as a model',
      params: { model: 'The agent, team or workflow.' },
      responses: { 200: jsonAnswer('The model.', OpenAIModel), ...openaiRefused(401, 403, 404, 421, 429, 500) },
    },
  ]
}
