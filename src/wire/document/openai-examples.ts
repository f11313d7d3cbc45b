import { runId, sessionId } from './shared-values.ts'

const model = { id: 'docs', object: 'model', created: 1767605400, owned_by: 'agentserve' }
const conversation = {
  id: 'ses_01kcz6t8d0m0x4zq',
  object: 'conversation',
  created_at: 1767605400,
  metadata: { topic: 'limits' },
}
const input = {
  id: 'msg_01kcz6t8d1m0x4zr_input_0',
  type: 'message',
  role: 'user',
  status: 'completed',
  content: [{ type: 'input_text', text: 'hello there' }],
}
const message = {
  id: 'msg_01kcz6t8d1m0x4zr_3',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello!', annotations: [], logprobs: [] }],
}

const completion = { id: 'chatcmpl-01kcz6t8d3m0x4zv', created: 1_790_000_000, model: 'docs' }

/** Of the shapes of OpenAI. */
export const openaiExamples: Record<string, unknown> = {
  OpenAIModel: model,
  OpenAIModels: { object: 'list', data: [model] },
  OpenAIErrorBody: {
    error: {
      message: "There is no agent 'nobody'.",
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  },
  ResponseRequest: { model: 'docs', input: 'hello there' },
  Response: {
    id: 'resp_01kcz6t8d1m0x4zr',
    object: 'response',
    created_at: 1767605400,
    completed_at: 1767605402,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: 'docs',
    output: [message],
    parallel_tool_calls: true,
    previous_response_id: null,
    conversation: { id: conversation.id },
    reasoning: null,
    store: true,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    truncation: 'disabled',
    usage: {
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 8,
    },
    user: null,
    service_tier: 'default',
    metadata: {},
    safety_identifier: null,
    prompt_cache_key: null,
  },
  ResponseStreamEvent: {
    type: 'response.output_text.delta',
    sequence_number: 4096,
    item_id: message.id,
    output_index: 0,
    content_index: 0,
    delta: 'Hello',
    logprobs: [],
  },
  ResponseItems: { object: 'list', data: [input], first_id: input.id, last_id: input.id, has_more: false },
  ConversationRequest: { metadata: conversation.metadata },
  Conversation: conversation,
  ConversationDeleted: { id: conversation.id, object: 'conversation.deleted', deleted: true },
  ChatCompletionRequest: { model: 'docs', messages: [{ role: 'user', content: 'hello there' }] },
  ChatCompletion: {
    ...completion,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    agentserve: { run_id: runId, session_id: sessionId, sources: [] },
  },
  ChatCompletionChunk: {
    ...completion,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null, logprobs: null }],
  },
}
