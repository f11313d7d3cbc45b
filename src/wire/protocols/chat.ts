import { z } from 'zod'
import { id, integer, jsonObject, oneOf, text } from '../../schema/request-field.ts'
import { component } from '../document/component.ts'
import { ClientTool } from '../run.ts'

/*
 * The shapes of useChat, for the OpenAPI document. Posted messages are read in protocols/chat: only the last one and answers
 * count, and what a page has besides is none of ours.
 */

/** What a page may send besides useChat's own fields, with the option `body` of its transport. */
export const ChatOptions = component(
  'ChatOptions',
  z.object({
    user_id: id().optional(),
    metadata: jsonObject().optional(),
    state: jsonObject().optional().describe("Merged over the session's state when the run starts."),
    instructions: text(1, 65_536).optional().describe("They follow the agent's own."),
    client_tools: z.array(ClientTool).optional().describe('Tools that the page executes.'),
    on_disconnect: oneOf(['cancel', 'continue'])
      .optional()
      .describe('What to do with the run when the page closes the stream. Default: continue.'),
  }),
)
export type ChatOptions = z.output<typeof ChatOptions>

export const ChatPart = component(
  'ChatPart',
  z.looseObject({ type: z.string().describe('`text`, `file`, `tool-<name>`, `data-<name>` …') }),
)

export const ChatMessage = component(
  'ChatMessage',
  z.looseObject({
    id: z.string(),
    role: z.enum(['user', 'assistant']),
    metadata: jsonObject().optional(),
    parts: z.array(ChatPart),
  }),
)

export const ChatRequest = component(
  'ChatRequest',
  z.looseObject({
    id: z.string().describe('The chat: a `session_id`. An unknown one is created.'),
    messages: z.array(ChatMessage).optional().describe('The conversation. Only the last message and answers are read.'),
    message: ChatMessage.optional().describe('The last message, instead of `messages`.'),
    trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
    messageId: z.string().optional().describe('The user message that is edited, or the assistant message to continue.'),
    agentserve: ChatOptions.optional(),
  }),
)

export const ChatChunk = component(
  'ChatChunk',
  z
    .looseObject({ type: z.string() })
    .describe('A chunk of the UI message stream of the AI SDK. The last line is `[DONE]`.'),
)

export const ChatStop = component(
  'ChatStop',
  z.looseObject({ activeStreamId: z.string().optional().describe('A run: any other one is not stopped.') }),
)

export const ChatStopped = component('ChatStopped', z.object({ success: z.literal(true) }))

export const ChatHistory = component(
  'ChatHistory',
  z.object({
    id: z.string(),
    messages: z
      .array(ChatMessage)
      .describe('Oldest first, as `useChat` takes them. Without the answer that is under way.'),
    activeRunId: z.string().nullable().describe('The run that is under way; its answer is in the stream.'),
    has_more: z.boolean(),
  }),
)

const ui = oneOf(['5', '6', '7'])
  .optional()
  .describe('The version of the AI SDK. `5` gets approvals as `data-approval`.')
export const ChatQuery = z.object({
  ui,
  on_disconnect: oneOf(['cancel', 'continue']).optional().describe('As `agentserve.on_disconnect`.'),
})
export const ChatStreamQuery = z.object({ ui })
export const ChatHistoryQuery = z.object({
  ui,
  limit: integer(1, 1000).default(50).describe('How many turns, the latest ones.'),
})
