import { runRefusals } from '../../wire/document/refusals.ts'
import { type DocResponse, jsonAnswer, type RouteDoc } from '../../wire/document/route-doc.ts'
import { OpenAIErrorBody, OpenAIModel, OpenAIModels } from '../../wire/protocols/openai.ts'

const refusals: Readonly<Record<number, string>> = {
  ...runRefusals,
  400: 'The request is not valid, or asks for what agents can not do.',
  404: 'There is no such model, response or conversation.',
  500: 'Internal error, or the run failed.',
  504: 'The run took too long.',
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
