import { z } from 'zod'
import { component } from '../document/component.ts'
import { Source } from '../event.ts'

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

/* Chat completions. Requests are read in protocols/openai: clients send many other fields, which are ignored. */

const CompletionMessage = component(
  'ChatCompletionMessage',
  z.looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: z
      .union([z.string(), z.array(z.looseObject({ type: z.string() }))])
      .nullish()
      .describe('Text, or parts of the types `text`, `image_url` and `file`: data:, http and https addresses.'),
    tool_call_id: z.string().optional().describe('Of a tool: the call that it answers.'),
  }),
)

export const ChatCompletionRequest = component(
  'ChatCompletionRequest',
  z.looseObject({
    model: z.string().describe('The agent, team or workflow.'),
    messages: z
      .array(CompletionMessage)
      .describe('The conversation. In a named session only what follows the last answer is read.'),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    tools: z
      .array(z.looseObject({ type: z.string() }))
      .nullish()
      .describe('Functions that the caller executes.'),
    tool_choice: z
      .union([z.string(), z.looseObject({})])
      .nullish()
      .describe("`auto`, `none`, or a choice of tools that may be called; a call can't be demanded."),
    response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).nullish(),
    metadata: z.looseObject({ session_id: z.string().nullish().describe('The session.') }).nullish(),
    user: z.string().nullish().describe("The person behind the caller's key."),
    safety_identifier: z.string().nullish().describe('The same, without `user`.'),
  }),
)

const About = z.looseObject({
  run_id: z.string(),
  session_id: z.string(),
  sources: z.array(Source).describe('What the answer may cite.'),
})
const usage = z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
const reason = z.enum(['stop', 'length', 'content_filter', 'tool_calls'])
const completion = { id: z.string(), created: z.int().describe('In seconds.'), model: z.string() }

export const ChatCompletion = component(
  'ChatCompletion',
  z.object({
    ...completion,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
        finish_reason: reason,
      }),
    ),
    usage,
    agentserve: About,
  }),
)

export const ChatCompletionChunk = component(
  'ChatCompletionChunk',
  z.object({
    ...completion,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(z.looseObject({ index: z.int(), delta: z.looseObject({}), finish_reason: reason.nullable() })),
    usage: usage.nullish().describe('With `stream_options.include_usage`: in the last chunk.'),
    agentserve: About.optional().describe('In the chunk that has the `finish_reason`.'),
  }),
).describe('The last line is `[DONE]`. A run that fails sends an object with `error` before it.')
