import { z } from 'zod'
import { component } from './document/component.ts'

/* What is sent by the OpenAI-compatible routes. Their names and shapes are OpenAI's. */

export const OpenAIModel = component(
  'OpenAIModel',
  z.object({
    id: z.string().describe('The agent, team or workflow.'),
    object: z.literal('model'),
    created: z.int().describe('When the server started, in seconds.'),
    owned_by: z.string(),
  }),
)
export const OpenAIModels = component(
  'OpenAIModels',
  z.object({ object: z.literal('list'), data: z.array(OpenAIModel) }),
)

export const OpenAIErrorBody = component(
  'OpenAIErrorBody',
  z.object({
    error: z.object({
      message: z.string(),
      type: z.enum(['invalid_request_error', 'permission_error', 'rate_limit_error', 'server_error']),
      param: z.string().nullable().describe('The field of the request.'),
      code: z.string().nullable(),
    }),
  }),
)
