import { describe, expect, test } from 'vitest'
import { openResponses } from './support.ts'

const said = (item: object) => ({ input: [{ role: 'user', content: 'hi' }, item] })

const wrong: [string, object][] = [
  ['model', { model: 7 }],
  ['model', { model: null }],
  ['input', { input: 7 }],
  ['input', { input: { role: 'user' } }],
  ['input', { input: undefined }],
  ['input', { input: '' }],
  ['input', { input: [] }],
  ['input', { input: [{ role: 'system', content: 'only this' }] }],
  ['input', { input: [{ role: 'assistant', content: 'hi' }] }],
  ['input[1]', said([] as unknown as object)],
  ['input[1].type', said({ type: 7 })],
  ['input[1].role', said({ role: 'robot', content: 'x' })],
  ['input[1].role', said({ content: 'x' })],
  ['input[1].content', said({ role: 'user', content: 7 })],
  ['input[1].content[0]', said({ role: 'user', content: ['x'] })],
  ['input[1].content[0].text', said({ role: 'user', content: [{ type: 'input_text', text: 7 }] })],
  ['input[1].content[0]', said({ role: 'user', content: [{ type: 'input_audio' }] })],
  ['input[1].content[0].image_url', said({ role: 'user', content: [{ type: 'input_image', image_url: 7 }] })],
  [
    'input[1].content[0].image_url',
    said({ role: 'user', content: [{ type: 'input_image', image_url: 'file:///etc' }] }),
  ],
  [
    'input[1].content',
    said({ role: 'system', content: [{ type: 'input_image', image_url: 'https://a.example/b.png' }] }),
  ],
  ['input[1].call_id', said({ type: 'function_call_output', output: 'x' })],
  ['input[1].output', said({ type: 'function_call_output', call_id: 'c', output: 7 })],
  ['input[1].approve', said({ type: 'mcp_approval_response', approval_request_id: 'a' })],
  ['input[1].approve', said({ type: 'mcp_approval_response', approval_request_id: 'a', approve: 'yes' })],
  ['input[1].approval_request_id', said({ type: 'mcp_approval_response', approve: true })],
  ['input[1].reason', said({ type: 'mcp_approval_response', approval_request_id: 'a', approve: true, reason: 7 })],
  ['input[1].arguments', said({ type: 'function_call', arguments: {} })],
  ['input[1].id', said({ type: 'item_reference' })],
  [
    'input[0].id',
    {
      input: [
        { type: 'item_reference', id: 'msg_foreign' },
        { role: 'user', content: 'hi' },
      ],
    },
  ],
  ['previous_response_id', { previous_response_id: 7 }],
  ['conversation', { conversation: 7 }],
  ['conversation', { conversation: 'no id' }],
  ['conversation', { conversation: 'x'.repeat(129) }],
  ['conversation.id', { conversation: { id: '../up' } }],
  ['conversation', { conversation: 'a', previous_response_id: 'resp_a' }],
  ['stream', { stream: 'yes' }],
  ['stream_options', { stream_options: 7 }],
  ['background', { background: 1 }],
  ['store', { store: 'no' }],
  ['instructions', { instructions: ['x'] }],
  ['instructions', { instructions: 'x'.repeat(300_000) }],
  ['tools', { tools: {} }],
  ['tools[0]', { tools: ['x'] }],
  ['tools[0].name', { tools: [{ type: 'function' }] }],
  ['tools[0].parameters', { tools: [{ type: 'function', name: 'x', parameters: 7 }] }],
  ['tool_choice', { tool_choice: 7 }],
  ['tool_choice', { tool_choice: 'required' }],
  ['tool_choice', { tool_choice: { type: 'function', name: 'x' } }],
  ['parallel_tool_calls', { parallel_tool_calls: 'no' }],
  ['text', { text: 'json' }],
  ['text.format', { text: { format: 'json' } }],
  ['text.format.type', { text: { format: { type: 'grammar' } } }],
  ['text.format.schema', { text: { format: { type: 'json_schema', name: 'x' } } }],
  ['metadata', { metadata: [] }],
  ['metadata.a', { metadata: { a: 1 } }],
  ['reasoning', { reasoning: 'high' }],
  ['include', { include: 'x' }],
  ['include[0]', { include: [7] }],
  ['truncation', { truncation: 7 }],
  ['temperature', { temperature: 'hot' }],
  ['top_p', { top_p: [] }],
  ['presence_penalty', { presence_penalty: 'x' }],
  ['frequency_penalty', { frequency_penalty: {} }],
  ['top_logprobs', { top_logprobs: 1.5 }],
  ['max_output_tokens', { max_output_tokens: 0 }],
  ['max_tool_calls', { max_tool_calls: -1 }],
  ['prompt_cache_key', { prompt_cache_key: 7 }],
  ['service_tier', { service_tier: {} }],
  ['user', { user: 7 }],
  ['safety_identifier', { safety_identifier: 7 }],
]

test('each field of a wrong type is named, and nothing begins', async () => {
  const { call, services } = await openResponses()
  for (const [param, fields] of wrong) {
    const body = { model: 'echo', input: 'hi', ...fields }
    const { status, headers, error } = await call('POST', '/responses', body)
    expect([fields, status, error.type, error.param]).toEqual([fields, 400, 'invalid_request_error', param])
    expect(headers['x-should-retry']).toBe('false')
  }
  expect((await services.runs.list({}, { limit: 10 })).items).toEqual([])
  expect((await services.sessions.list({}, { limit: 10 })).items).toEqual([])
})

test('null is absent, and what nobody knows is ignored', async () => {
  const { create } = await openResponses()
  const nulls = Object.fromEntries(
    [
      'previous_response_id',
      'conversation',
      'instructions',
      'tools',
      'text',
      'metadata',
      'stream',
      'store',
      'user',
    ].map((name) => [name, null]),
  )
  const input = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'of_the_future', anything: [1] },
    { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
  ]
  const made = await create({ input, ...nulls, prompt: { id: 'p' }, of_the_future: true })
  expect(made).toMatchObject({ status: 'completed', store: true, metadata: {} })
})

describe('bodies that are no request', () => {
  test.each([
    ['no JSON', '{"model":', 400],
    ['a list', '[]', 400],
    ['a text', '"x"', 400],
    ['nothing', '', 400],
    ['a prototype', '{"model":"echo","input":"x","metadata":{"__proto__":"x"}}', 400],
    ['too deep', `{"model":"echo","input":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 400],
    ['a number that is none', '{"model":"echo","input":"x","temperature":1e999}', 400],
    [
      'too many references',
      JSON.stringify({ model: 'echo', input: [...references(1_100), { role: 'user', content: 'x' }] }),
      400,
    ],
  ])('%s', async (_name, body, expected) => {
    const { call } = await openResponses()
    const { status, error } = await call('POST', '/responses', body, { 'content-type': 'application/json' })
    expect([status, error.type]).toEqual([expected, 'invalid_request_error'])
  })
})

function references(count: number): object[] {
  return Array.from({ length: count }, (_, place) => ({
    type: 'item_reference',
    id: `msg_${String(place).padStart(26, '0')}_1`,
  }))
}

const noIds = [
  'x',
  'resp_',
  'resp_x',
  'run_0123456789abcdefghjkmnpqrs',
  `resp_${'0'.repeat(26)}`,
  `resp_${'0'.repeat(26)}_1`,
  `resp_${'0'.repeat(26)}_01`,
  `resp_${'0'.repeat(26)}_9999999`,
  'resp_%2e%2e',
  `resp_${'x'.repeat(5_000)}`,
  '%00',
  '__proto__',
]

test.each(noIds)('%s is no response', async (id) => {
  const { call } = await openResponses()
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '?stream=true'],
    ['POST', '/cancel'],
    ['GET', '/input_items'],
  ]) {
    const { status, error } = await call(method ?? '', `/responses/${id}${path}`)
    expect([status, error.code]).toEqual([404, 'response_not_found'])
    expect(error.message.length).toBeLessThan(200)
  }
  const body = { model: 'echo', input: 'x', previous_response_id: decodeURIComponent(id) }
  const { status, error } = await call('POST', '/responses', body)
  expect([status, error.code]).toEqual([400, 'previous_response_not_found'])
})

test('a query of a wrong type is refused', async () => {
  const { create, call } = await openResponses()
  const { id } = await create({ input: 'hi' })
  for (const query of [
    'stream=yes',
    'stream=true&starting_after=x',
    'stream=true&starting_after=-1',
    'stream=true&starting_after=9e9',
  ]) {
    expect((await call('GET', `/responses/${id}?${query}`)).status).toBe(400)
  }
  for (const query of ['limit=101', 'limit=x', 'order=up']) {
    expect((await call('GET', `/responses/${id}/input_items?${query}`)).status).toBe(400)
  }
  const header = { 'x-on-disconnect': 'perhaps' }
  expect((await call('POST', '/responses', { model: 'echo', input: 'hi' }, header)).status).toBe(400)
})

test("another user's responses and conversations are as if they were not there", async () => {
  const { call, create } = await openResponses()
  const bob = { 'x-user': 'bob' }
  const ann = { 'x-user': 'ann' }
  const his = await create({ model: 'recalls', input: 'a secret', conversation: 'of-bob' }, bob)
  expect((await call('GET', `/responses/${his.id}`, undefined, bob)).status).toBe(200)
  const without = (text: string, id: string) => JSON.stringify(text).replaceAll(id, 'ID')
  const free = `resp_${'0'.repeat(26)}`
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '?stream=true'],
    ['POST', '/cancel'],
    ['GET', '/input_items'],
  ] as const) {
    const theirs = await call(method, `/responses/${his.id}${path}`, undefined, ann)
    const none = await call(method, `/responses/${free}${path}`, undefined, ann)
    expect([theirs.status, without(theirs.body, his.id)]).toEqual([404, without(none.body, free)])
  }
  const branch = (previous_response_id: string) =>
    call('POST', '/responses', { model: 'recalls', input: 'x', previous_response_id }, ann)
  expect(without((await branch(his.id)).body, his.id)).toBe(without((await branch(free)).body, free))
  const start = await call('POST', '/responses', { model: 'recalls', input: 'x', conversation: 'of-bob' }, ann)
  expect([start.status, start.error.code]).toEqual([404, 'conversation_not_found'])
  for (const method of ['GET', 'DELETE']) {
    const { status, error } = await call(method, '/conversations/of-bob', undefined, ann)
    expect([status, error.code]).toEqual([404, 'conversation_not_found'])
  }
  const [item] = his.output
  const input = [
    { type: 'item_reference', id: item.id },
    { role: 'user', content: 'x' },
  ]
  const named = await call('POST', '/responses', { model: 'recalls', input }, ann)
  expect([named.status, named.error.param]).toEqual([400, 'input[0].id'])
})
