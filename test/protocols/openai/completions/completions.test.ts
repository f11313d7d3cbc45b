import { describe, expect, test } from 'vitest'
import { agent } from '../../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../../src/testing/scripted-model.ts'
import { runnable } from '../../../support/services.ts'
import { type Any, assistant, openCompletions, user } from './support.ts'

const hello = { model: 'echo', messages: [user('hello there')] }

describe('a chat completion', () => {
  test('is an answer as JSON, of a new session', async () => {
    const { complete, get } = await openCompletions()
    const { status, headers, body } = await complete(hello)
    expect(status).toBe(200)
    const runId = headers['x-run-id'] as string
    expect(body).toEqual({
      id: `chatcmpl-${runId.slice(4)}`,
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'echo',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hello there', refusal: null, annotations: [] },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: expect.objectContaining({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
      agentserve: { run_id: runId, session_id: headers['x-session-id'], sources: [] },
    })
    expect(headers['x-should-retry']).toBe('false')
    expect((await get(`/runs/${runId}`)).status).toBe('completed')
  })

  test('is a stream of chunks, with usage when it is asked for', async () => {
    const { stream } = await openCompletions()
    const { headers, text, chunks } = await stream({ ...hello, stream_options: { include_usage: true, other: 1 } })
    expect(headers['content-type']).toMatch('text/event-stream')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(text).not.toContain('event:')
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: Any) => delta))
    expect(deltas).toEqual([{ role: 'assistant', content: '' }, { content: 'hello ' }, { content: 'there' }, {}])
    expect(chunks.map(({ usage }) => usage?.total_tokens ?? usage)).toEqual([null, null, null, null, 0])
    expect(chunks.at(-1).choices).toEqual([])
    expect(chunks.at(-2)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      agentserve: { run_id: headers['x-run-id'], session_id: headers['x-session-id'], sources: [] },
    })
    const plain = await stream({ ...hello, stream_options: { include_usage: 'yes' } })
    expect(plain.text).not.toContain('usage')
  })

  test('has the data of a structured answer as its content', async () => {
    const model = scriptedModel('{"city":"Ghent"}', '{"a":[1]}')
    const { complete } = await openCompletions({ docs: agent({ model }) })
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const response_format = { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } }
    const one = await complete({ model: 'docs', messages: [user('Where?')], response_format })
    expect(JSON.parse(one.content)).toEqual({ city: 'Ghent' })
    const any = await complete({ model: 'docs', messages: [user('What?')], response_format: { type: 'json_object' } })
    expect(JSON.parse(any.content)).toEqual({ a: [1] })
    const refused = await complete({ model: 'echo', messages: [user('Where?')], response_format })
    expect([refused.status, refused.body.error.param]).toEqual([400, 'response_format'])
  })

  test('says why it ends: length and filters are the last model call’s', async () => {
    for (const [given, expected] of [
      ['length', 'length'],
      ['content-filter', 'content_filter'],
      ['stop', 'stop'],
      ['other', 'stop'],
    ] as const) {
      const ends = runnable(async function* () {
        yield { type: 'model_call_start', call_id: 'c', model: 'm' }
        yield 'text'
        const usage = { input_tokens: 2, output_tokens: 3, total_tokens: 5 }
        yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: given, duration_ms: 1 }
      })
      const { complete } = await openCompletions({ ends })
      const { body } = await complete({ model: 'ends', messages: [user('x')] })
      expect([body.choices[0].finish_reason, body.usage.total_tokens]).toEqual([expected, 5])
    }
  })

  test('gives the run files and images, and the system messages as instructions', async () => {
    const model = scriptedModel('A map.')
    const { complete } = await openCompletions({ docs: agent({ model }) })
    const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' }
    const { status, content } = await complete({
      model: 'docs',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        user([
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url },
        ]),
      ],
    })
    expect([status, content]).toEqual([200, 'A map.'])
    const prompt = JSON.stringify(model.calls[0]?.prompt)
    expect(prompt).toContain('Be short.\\n\\nBe kind.')
    expect(prompt).toContain('image/png')
  })

  test('names what the run does not use, together', async () => {
    const { complete } = await openCompletions()
    const { headers } = await complete({
      ...hello,
      messages: [{ role: 'system', content: 'Be short.' }, ...hello.messages],
      temperature: 0.1,
      top_p: null,
      max_tokens: 10,
      seed: 0,
      presence_penalty: 1,
      reasoning_effort: 'low',
      tools: [{ type: 'function', function: { name: 'pick' } }],
      unknown: { a: 1 },
    })
    expect(headers['x-agentserve-ignored']).toBe('temperature, max_tokens, seed, tools, instructions')
  })

  test('keeps who is behind the key with the run, not as our user', async () => {
    const { complete, get } = await openCompletions()
    const metadata = { ticket: '4711' }
    const { headers } = await complete({ ...hello, user: 'ann', safety_identifier: 'other', metadata })
    expect((await get(`/runs/${headers['x-run-id']}`)).metadata).toEqual({ openai: { user: 'ann', metadata } })
    expect((await get(`/sessions/${headers['x-session-id']}`)).user_id).toBeNull()
  })
})

describe('a run that has no answer', () => {
  test('is an error with the run, which clients do not send again', async () => {
    const { complete } = await openCompletions()
    const { status, headers, body } = await complete({ ...hello, model: 'failing' })
    expect(status).toBe(500)
    expect(headers['x-should-retry']).toBe('false')
    expect(body).toEqual({
      error: { message: expect.any(String), type: 'server_error', param: null, code: 'run_failed' },
    })
  })

  test('ends its stream with an error and [DONE]', async () => {
    const { stream } = await openCompletions()
    const { status, text, chunks } = await stream({ ...hello, model: 'failing' })
    expect(status).toBe(200)
    expect(chunks.at(-1)).toEqual({
      error: { message: expect.any(String), type: 'server_error', param: null, code: 'run_failed' },
    })
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(text).not.toContain('finish_reason":"')
  })

  test('is one of an unknown model, in the words of OpenAI', async () => {
    const { complete } = await openCompletions()
    const { status, body } = await complete({ ...hello, model: 'other' })
    expect([status, body.error.param, body.error.code]).toEqual([404, 'model', 'model_not_found'])
  })
})

describe('a request', () => {
  const bad = { model: 'echo', messages: [user('x')] }
  test.each<[string, unknown, string | null, string]>([
    ['no object', [], null, 'invalid_value'],
    ['no model', { messages: [user('x')] }, 'model', 'invalid_value'],
    ['a model that is no text', { ...bad, model: {} }, 'model', 'invalid_value'],
    ['no messages', { model: 'echo' }, 'messages', 'invalid_value'],
    ['messages that are no list', { ...bad, messages: { 0: user('x') } }, 'messages', 'invalid_value'],
    ['an empty list', { ...bad, messages: [] }, 'messages', 'invalid_value'],
    ['a message that is no object', { ...bad, messages: ['x'] }, 'messages[0]', 'invalid_value'],
    ['an unknown role', { ...bad, messages: [{ role: 'toString', content: '' }] }, 'messages[0].role', 'invalid_value'],
    ['no content', { ...bad, messages: [{ role: 'user' }] }, 'messages[0].content', 'invalid_value'],
    ['empty content', { ...bad, messages: [user('')] }, 'messages', 'invalid_value'],
    ['only system messages', { ...bad, messages: [{ role: 'system', content: 'x' }] }, 'messages', 'invalid_value'],
    ['the assistant at the end', { ...bad, messages: [user('x'), assistant('y')] }, 'messages', 'invalid_value'],
    ['calls that are no list', { ...bad, messages: [assistant('y', 5)] }, 'messages[0].tool_calls', 'invalid_value'],
    ['calls without id', { ...bad, messages: [assistant('', [{}])] }, 'messages[0].tool_calls[0]', 'invalid_value'],
    [
      'a call id that is no text',
      { ...bad, messages: [{ role: 'tool', tool_call_id: 5, content: '' }] },
      'messages[0].tool_call_id',
      'invalid_value',
    ],
    ['a stream that is no flag', { ...bad, stream: 'yes' }, 'stream', 'invalid_value'],
    ['options that are a list', { ...bad, stream_options: [] }, 'stream_options', 'invalid_value'],
    ['metadata that is a text', { ...bad, metadata: 'x' }, 'metadata', 'invalid_value'],
    ['a session that is none', { ...bad, metadata: { session_id: '../x' } }, 'metadata.session_id', 'invalid_value'],
    ['a user that is a number', { ...bad, user: 5 }, 'user', 'invalid_value'],
    ['n of 2', { ...bad, n: 2 }, 'n', 'unsupported_parameter'],
    ['n that is a text', { ...bad, n: '1' }, 'n', 'unsupported_parameter'],
    ['logprobs', { ...bad, logprobs: true }, 'logprobs', 'unsupported_parameter'],
    ['audio', { ...bad, modalities: ['text', 'audio'] }, 'modalities', 'unsupported_parameter'],
    ['a voice', { ...bad, audio: { voice: 'x' } }, 'audio', 'unsupported_parameter'],
    ['functions', { ...bad, functions: [] }, 'functions', 'unsupported_parameter'],
    [
      'a format of another kind',
      { ...bad, response_format: { type: 'x' } },
      'response_format.type',
      'unsupported_parameter',
    ],
    ['a demanded call', { ...bad, tool_choice: 'required' }, 'tool_choice', 'tools_not_supported'],
    [
      'sound',
      { ...bad, messages: [user([{ type: 'input_audio', input_audio: {} }])] },
      'messages[0].content[0]',
      'unsupported_content',
    ],
    [
      'a file that is no base64',
      { ...bad, messages: [user([{ type: 'image_url', image_url: 'data:image/png;base64,***' }])] },
      'messages',
      'invalid_value',
    ],
  ])('with %s is refused', async (_name, body, param, code) => {
    const { complete, get } = await openCompletions()
    const answer = await complete(body)
    expect([answer.status, answer.body.error.param, answer.body.error.code]).toEqual([400, param, code])
    expect(answer.body.error.type).toBe('invalid_request_error')
    expect((await get('/sessions')).sessions).toEqual([])
  })

  test('may have 10,000 messages in a named session, and 1,000 as a history', async () => {
    const { complete } = await openCompletions()
    const messages = [
      ...Array.from({ length: 9_999 }, (_, place) => (place % 2 === 0 ? user('x') : assistant('y'))),
      user('z'),
    ]
    expect((await complete({ model: 'echo', messages }, { 'x-session-id': 'long' })).content).toBe('xz')
    const { status, body } = await complete({ model: 'echo', messages })
    expect([status, body.error.param, body.error.code]).toEqual([400, 'messages', 'invalid_value'])
    expect((await complete({ model: 'echo', messages: messages.slice(-1000) })).status).toBe(200)
  })

  test('that is nested too deep, or full of opened blocks, ends soon', async () => {
    const { complete } = await openCompletions()
    const deep = '['.repeat(100_000)
    const { status, body } = await complete(`{"model":"echo","messages":${deep}`, {
      'content-type': 'application/json',
    })
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error'])
    const opened = '<think><details'.repeat(60_000)
    const begun = performance.now()
    const messages = [user(opened), assistant(opened), user('z')]
    expect((await complete({ model: 'echo', messages, user: 'ann' })).content).toBe('z')
    expect(performance.now() - begun).toBeLessThan(5_000)
  })
})
