import { z } from 'zod'
import { jsonObject } from '../../schema/request-field.ts'
import { component } from '../document/component.ts'

/* What is sent to the official A2A, for the OpenAPI document; protocols/a2a/official reads it, and the specification says the rest. */

export const A2ARpcRequest = component(
  'A2ARpcRequest',
  z.object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number(), z.null()]).describe('Echoed in the response.'),
    method: z.string().describe('`SendMessage`, `SendStreamingMessage`, `GetTask` … (1.0), `message/send` … (0.3).'),
    params: jsonObject().optional(),
  }),
)

export const A2ASendRequest = component(
  'A2ASendRequest',
  z.object({
    message: jsonObject().describe(
      'With `messageId`, `role` and `parts`; `contextId` and `taskId` go on with earlier ones.',
    ),
    configuration: jsonObject().optional().describe('`historyLength`, `returnImmediately`.'),
    metadata: jsonObject().optional(),
  }),
)

const historyLength = z.string().optional().describe('How many of the latest messages come with a task.')

export const A2ATaskQuery = z.object({ historyLength })

export const A2ATasksQuery = z.object({
  contextId: z.string().optional().describe('Only tasks of this context.'),
  status: z.string().optional().describe('Only tasks in this state: `TASK_STATE_WORKING` …'),
  pageSize: z.string().optional().describe('1 to 100; default 50.'),
  pageToken: z.string().optional().describe('`nextPageToken` of the page before.'),
  historyLength,
  statusTimestampAfter: z.string().optional().describe('Only tasks whose status changed after this time.'),
  includeArtifacts: z.string().optional().describe('`true`: with artifacts.'),
})
