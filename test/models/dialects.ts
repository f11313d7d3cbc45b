/* How each provider writes its answers: the pieces of a stream, and the body of an error. */

export interface Dialect {
  name: string
  path: string
  /** The header that carries the key, and what stands before the key in it. */
  key: [header: string, prefix: string]
  /** A streamed answer of two words; the usage is 5 tokens in and 2 out. */
  words(first: string, second: string): string[]
  toolCall(name: string, input: object): string[]
  error(message: string): object
  /** A failure that is told in the stream. */
  failure(message: string): string
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function named(event: { type: string; [field: string]: unknown }): string {
  return `event: ${event.type}\n${data(event)}`
}

function chatChunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return data({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices })
}
const chatUsage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const chatEnd = [data({ id: 'c1', created: 1, model: 'm', choices: [], usage: chatUsage }), 'data: [DONE]\n\n']

const chat: Omit<Dialect, 'name'> = {
  path: '/v1/chat/completions',
  key: ['authorization', 'Bearer '],
  words: (first, second) => [
    chatChunk({ role: 'assistant', content: first }),
    chatChunk({ content: second }),
    chatChunk({}, 'stop'),
    ...chatEnd,
  ],
  toolCall(name, input) {
    const whole = JSON.stringify(input)
    const part = (args: string, more: object = {}) => ({
      tool_calls: [{ index: 0, ...more, function: { ...('id' in more ? { name } : {}), arguments: args } }],
    })
    return [
      chatChunk(part('', { id: 'call_1', type: 'function' })),
      chatChunk(part(whole.slice(0, 4))),
      chatChunk(part(whole.slice(4))),
      chatChunk({}, 'tool_calls'),
      ...chatEnd,
    ]
  },
  error: (message) => ({ error: { message, type: 'server_error', param: null, code: null } }),
  failure: (message) => data({ error: { message, type: 'server_error', param: null, code: null } }),
}

function response(...events: { type: string; [field: string]: unknown }[]): string[] {
  const about = { id: 'resp_1', created_at: 1, model: 'm' }
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }
  const all = [
    { type: 'response.created', response: about },
    ...events,
    { type: 'response.completed', response: { ...about, usage } },
  ]
  return all.map((event, sequence_number) => named({ ...event, sequence_number }))
}

const responses: Dialect = {
  name: 'OpenAI responses',
  path: '/v1/responses',
  key: ['authorization', 'Bearer '],
  words(first, second) {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
    const delta = (text: string) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      delta: text,
    })
    return response({ type: 'response.output_item.added', output_index: 0, item }, delta(first), delta(second), {
      type: 'response.output_item.done',
      output_index: 0,
      item,
    })
  },
  toolCall(name, input) {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: '' }
    const args = JSON.stringify(input)
    return response(
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: args },
      { type: 'response.output_item.done', output_index: 0, item: { ...item, arguments: args, status: 'completed' } },
    )
  },
  error: chat.error,
  failure: (message) =>
    named({ type: 'error', sequence_number: 9, error: { type: 'server_error', code: 'server_error', message } }),
}

function claude(stop: string, block: object, ...deltas: object[]): string[] {
  return [
    {
      type: 'message_start',
      message: { id: 'm1', model: 'm', role: 'assistant', content: [], usage: { input_tokens: 5 } },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ].map(named)
}

const anthropic: Dialect = {
  name: 'Anthropic messages',
  path: '/v1/messages',
  key: ['x-api-key', ''],
  words: (first, second) =>
    claude(
      'end_turn',
      { type: 'text', text: '' },
      { type: 'text_delta', text: first },
      { type: 'text_delta', text: second },
    ),
  toolCall: (name, input) =>
    claude(
      'tool_use',
      { type: 'tool_use', id: 'toolu_1', name, input: {} },
      { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    ),
  error: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
  failure: (message) => named({ type: 'error', error: { type: 'overloaded_error', message } }),
}

function gemini(part: object, finishReason?: string): string {
  const candidates = [
    { index: 0, content: { role: 'model', parts: [part] }, ...(finishReason ? { finishReason } : {}) },
  ]
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 }
  return data({ candidates, ...(finishReason ? { usageMetadata } : {}) })
}

const google: Dialect = {
  name: 'Google generateContent',
  path: '/v1beta/models/m:streamGenerateContent?alt=sse',
  key: ['x-goog-api-key', ''],
  words: (first, second) => [gemini({ text: first }), gemini({ text: second }, 'STOP')],
  toolCall: (name, input) => [gemini({ functionCall: { name, args: input } }, 'STOP')],
  error: (message) => ({ error: { code: 500, message, status: 'INTERNAL' } }),
  failure: (message) => data({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
}

export const dialects = {
  responses,
  chat: { name: 'OpenAI chat completions', ...chat },
  anthropic,
  google,
  compatible: { name: 'OpenAI-compatible', ...chat },
} satisfies Record<string, Dialect>
