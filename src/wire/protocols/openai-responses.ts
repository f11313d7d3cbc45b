import { z } from 'zod'
import { component } from '../document/component.ts'

/*
 * The shapes of responses and conversations, for the OpenAPI document. They are OpenAI's: its clients have the types of all items and
 * events. Requests are read in protocols/openai.
 */

const metadata = z.record(z.string(), z.string())

export const ResponseItem = component(
  'ResponseItem',
  z.looseObject({
    type: z.string().describe('`message`, `function_call_output`, `mcp_approval_response`, `item_reference` …'),
  }),
)

export const ResponseRequest = component(
  'ResponseRequest',
  z.looseObject({
    model: z
      .string()
      .optional()
      .describe('The agent, team or workflow. Default: that of the conversation, if it has one.'),
    input: z.union([z.string(), z.array(ResponseItem)]).optional(),
    previous_response_id: z
      .string()
      .optional()
      .describe('The response to go on from. One that was continued already is continued in a copy of its session.'),
    conversation: z
      .union([z.string(), z.looseObject({ id: z.string() })])
      .optional()
      .describe('A `session_id`. An unknown one is created.'),
    instructions: z.string().optional().describe("They follow the agent's own. Only for this response."),
    tools: z.array(ResponseItem).optional().describe('Functions that the caller executes. Other types are ignored.'),
    tool_choice: z.union([z.string(), z.looseObject({})]).optional(),
    text: z
      .looseObject({ format: ResponseItem.optional() })
      .optional()
      .describe('`format`: `text`, `json_object` or `json_schema`.'),
    metadata: metadata.optional(),
    stream: z.boolean().optional().describe('Answer with server-sent events.'),
    background: z.boolean().optional().describe('Answer at once. The response continues after the request.'),
    store: z.boolean().optional().describe('`false`: the response can not be had again by its id.'),
  }),
)

export const ResponseObject = component(
  'Response',
  z.looseObject({
    id: z.string().describe('`resp_` and the id of the run; `_2` and so on after an answer to what it asked for.'),
    object: z.literal('response'),
    created_at: z.int().describe('In seconds.'),
    completed_at: z.int().nullable(),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed', 'cancelled']),
    model: z.string(),
    output: z.array(ResponseItem),
    error: z.object({ code: z.literal('server_error'), message: z.string() }).nullable(),
    conversation: z.object({ id: z.string().describe('The session.') }),
    previous_response_id: z.string().nullable(),
    metadata: z.looseObject({}),
    usage: z
      .looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() })
      .nullable()
      .describe('Of this response alone.'),
  }),
)

export const ResponseStreamEvent = component(
  'ResponseStreamEvent',
  z
    .looseObject({
      type: z.string(),
      sequence_number: z.int().describe('Grows from event to event, with gaps.'),
    })
    .describe('An event of the stream of OpenAI. The last line is `[DONE]`.'),
)

export const ResponseQuery = z.object({
  stream: z.enum(['true', 'false']).optional().describe('Answer with the stream, from its beginning.'),
  starting_after: z.int().min(0).optional().describe('Only events with a larger `sequence_number`.'),
})

export const ResponseItemsQuery = z.object({
  limit: z.int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional().describe('The id of an item.'),
})

export const ResponseItems = component(
  'ResponseItems',
  z.object({
    object: z.literal('list'),
    data: z.array(ResponseItem),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
)

export const ConversationRequest = component('ConversationRequest', z.looseObject({ metadata: metadata.optional() }))

export const Conversation = component(
  'Conversation',
  z.object({
    id: z.string().describe('The session.'),
    object: z.literal('conversation'),
    created_at: z.int().describe('In seconds.'),
    metadata,
  }),
)

export const ConversationDeleted = component(
  'ConversationDeleted',
  z.object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) }),
)
