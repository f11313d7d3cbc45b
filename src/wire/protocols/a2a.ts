import { z } from 'zod'
import { component } from '../document/component.ts'

/*
 * The shapes of the A2A dialect, for the OpenAPI document and the client's types. Requests are checked by hand in
 * protocols/a2a, in the specification's order and wording, because that is the hot path.
 */

export const a2aMethods = ['sendMessage', 'streamMessage'] as const
export type A2AMethod = (typeof a2aMethods)[number]

export const A2APart = component(
  'A2APart',
  z.object({
    type: z.enum(['text', 'data']),
    content: z.string().optional().describe('The text. Omitted when empty.'),
    data: z.string().optional().describe('Structured data as a JSON string. Omitted when empty.'),
  }),
)
export type A2APart = z.infer<typeof A2APart>

export const A2AMessage = component(
  'A2AMessage',
  z.object({
    messageId: z
      .string()
      .min(1)
      .describe('A retry with the same agent, context, messageId and parts returns the same task.'),
    role: z.string().min(1).describe('`user` or `assistant`.'),
    agentId: z.string().min(1).describe('The id of a registered agent, team or workflow.'),
    contextId: z
      .string()
      .optional()
      .describe(
        'The session id, 1–128 of `A-Z a-z 0-9 . _ : -`. An unknown session is created with this id; without an id, a new session is created.',
      ),
    parts: z.array(A2APart).min(1),
  }),
)
export type A2AMessage = z.infer<typeof A2AMessage>

export const A2AParams = component(
  'A2AParams',
  z.object({
    message: A2AMessage,
    onDisconnect: z
      .enum(['cancel', 'continue'])
      .optional()
      .describe('What to do with the run when the client disconnects. Default: `cancel`.'),
    markData: z.boolean().optional().describe('Whether the stream marks data parts with `part`. Default: false.'),
  }),
)
export type A2AParams = z.infer<typeof A2AParams>

export const A2ARequest = component(
  'JSONRPC2Request',
  z.object({
    jsonrpc: z.literal('2.0'),
    method: z.enum(a2aMethods),
    id: z.string().min(1).describe('Echoed in the response.'),
    params: A2AParams,
  }),
)
export type A2ARequest = z.infer<typeof A2ARequest>

export const A2ATask = component(
  'A2ATask',
  z.object({
    taskId: z.string().describe("The run's id."),
    status: z.enum(['completed', 'failed']),
    messages: z.array(A2AMessage),
  }),
)
export type A2ATask = z.infer<typeof A2ATask>

export const A2AErrorObject = component(
  'A2AErrorObject',
  z.object({
    code: z.int().describe('-32700, -32600, -32601, -32602 or -32603.'),
    message: z.string(),
  }),
)
export type A2AErrorObject = z.infer<typeof A2AErrorObject>

const echoedId = z.union([z.string(), z.number(), z.null()]).describe("The request's id, or null if it has none.")

export const A2ASuccess = component(
  'JSONRPC2Success',
  z.object({ jsonrpc: z.literal('2.0'), id: echoedId, result: z.object({ task: A2ATask }) }),
)
export type A2ASuccess = z.infer<typeof A2ASuccess>

export const A2AFailure = component(
  'JSONRPC2Failure',
  z.object({ jsonrpc: z.literal('2.0'), id: echoedId, error: A2AErrorObject }),
)
export type A2AFailure = z.infer<typeof A2AFailure>

export const A2AResponse = component('JSONRPC2Response', z.union([A2ASuccess, A2AFailure]))
export type A2AResponse = z.infer<typeof A2AResponse>

export const A2AStreamEvent = component(
  'A2AStreamEvent',
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('content'),
      content: z.string(),
      part: z.literal('data').exactOptional().describe('With `markData`: the content is a data part as JSON.'),
    }),
    z.object({ type: z.literal('error'), code: z.int(), message: z.string() }),
    z.object({ type: z.literal('done') }),
  ]),
)
export type A2AStreamEvent = z.infer<typeof A2AStreamEvent>
