import { describe, expect, test } from 'vitest'
import { agent } from '../../../src/index.ts'
import { type Any, openMcp, shown } from './support.ts'

describe('the list of tools', () => {
  test('is the same for a host of 2025 and one of 2026, in the same order', async () => {
    const { connect, result } = await openMcp()
    const client = await connect()
    const { tools } = await client.listTools()
    const asks = ['asks', 'cashier', 'data', 'echo', 'failing', 'held', 'long', 'steps'].map((id) => `ask_${id}`)
    expect(tools.map(({ name }) => name)).toEqual([...asks, 'get_run', 'answer_run', 'cancel_run'])
    const modern = await result('tools/list')
    expect(modern.tools).toEqual(tools)
    expect(modern).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' })
    expect(tools.find(({ name }) => name === 'ask_echo')?.description).toBe('Says it again.')
    expect(tools.find(({ name }) => name === 'answer_run')?.inputSchema.properties).not.toHaveProperty('approved')
  })

  test('has one tool for more than 16 agents', async () => {
    const entities = Object.fromEntries(
      Array.from({ length: 17 }, (_, index) => [
        `agent ${index}`,
        agent({ description: `No. ${index}`, run: async ({ text }) => `${index}: ${text}` }),
      ]),
    )
    const { result, call } = await openMcp({ entities })
    const { tools } = await result('tools/list')
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(['ask', 'get_run', 'answer_run', 'cancel_run'])
    expect(tools[0].description).toContain('- agent 3: No. 3')
    expect(shown(await call('ask', { agent: 'agent 3', message: 'hi' })).answer).toBe('3: hi')
    const none = await call('ask', { agent: 'nobody', message: 'hi' })
    expect(none).toMatchObject({ isError: true, content: [{ text: "There is no agent 'nobody'." }] })
  })

  test('follows the agents of the server', async () => {
    const { server, result, call } = await openMcp({ entities: { 'a b': agent({ run: async () => 'hi' }) } })
    expect(shown(await call('ask_a_b', { message: 'x' })).answer).toBe('hi')
    server.registerAgent('a.b', agent({ run: async () => 'ho' }))
    const { tools } = await result('tools/list')
    expect(tools.slice(0, 2).map(({ name }: { name: string }) => name)).toEqual(['ask_a_b', 'ask_a_b_2'])
    expect(shown(await call('ask_a_b_2', { message: 'x' })).answer).toBe('ho')
  })

  test('tells hosts that listen when it changes, and lets go of them at the end', async () => {
    const { server, send } = await openMcp()
    const stream = await send('subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    let heard = ''
    const until = async (part: string) => {
      while (!heard.includes(part)) heard += (await reader?.read())?.value ?? ''
    }
    await until('notifications/subscriptions/acknowledged')
    server.registerAgent('more', agent({ run: async () => 'hi' }))
    await until('notifications/tools/list_changed')
    const closed = server.shutdown({ deadline: 60_000 })
    while (!(await reader?.read())?.done);
    await closed
  })
})

describe('an answer', () => {
  test('is text, with the run and the session, which goes on', async () => {
    const { connect, call } = await openMcp()
    const client = await connect()
    const first = await client.callTool({ name: 'ask_echo', arguments: { message: 'hello' } })
    expect(first.content).toEqual([{ type: 'text', text: 'Said hello' }])
    const { session_id } = shown(first)
    expect(shown(first)).toEqual({
      run_id: expect.stringMatching(/^run_/),
      session_id: expect.stringMatching(/^ses_/),
      status: 'completed',
      answer: 'Said hello',
      sources: [],
      usage: null,
    })
    const second = await call('ask_echo', { message: 'again', session_id })
    expect(shown(second)).toMatchObject({ session_id, status: 'completed', answer: 'Said again' })
    expect(shown(await call('ask_echo', { message: 'x', session_id: 'mine' })).session_id).toBe('mine')
  })

  test('of data is data and its JSON', async () => {
    const { call } = await openMcp()
    const result = await call('ask_data', { message: 'x' })
    expect(result.content).toEqual([{ type: 'text', text: '{"celsius":9}' }])
    expect(shown(result).data).toEqual({ celsius: 9 })
  })

  test('that is very long is cut, and says so', async () => {
    const { call } = await openMcp()
    const result = await call('ask_long', { message: 'x' })
    expect(result.content[0].text).toHaveLength(200_000)
    expect(shown(result)).toMatchObject({ status: 'completed', cut: true })
  })

  test('of a run that fails is an error that the model can read', async () => {
    const { call } = await openMcp()
    const result = await call('ask_failing', { message: 'x' })
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text' }] })
    expect(shown(result).status).toBe('failed')
  })
})

describe('a call that is wrong', () => {
  test.each([
    [{}, '`message` is required.'],
    [{ message: 7 }, '`message` must be a string.'],
    [{ message: 'x'.repeat(1_000_001) }, '`message` must have at most 1000000 characters.'],
    [{ message: 'x', session_id: '../x' }, '`session_id` may have letters, digits and . _ : - only.'],
    [{ message: 'x', wait_seconds: 601 }, '`wait_seconds` must be an integer from 1 to 600.'],
    [{ message: 'x', wait_seconds: 1e308 }, '`wait_seconds` must be an integer from 1 to 600.'],
  ])('is told to the model', async (given, text) => {
    const { call } = await openMcp()
    expect(await call('ask_echo', given)).toEqual({
      resultType: 'complete',
      _meta: expect.anything(),
      isError: true,
      content: [{ type: 'text', text }],
    })
  })

  test('takes control characters and any text as data', async () => {
    const { call } = await openMcp()
    const message = '\u0000\u001b[31m\u202e\ufffd" \\ 日本'
    expect(shown(await call('ask_echo', { message })).answer).toBe(`Said ${message}`)
  })

  test.each([
    ['tools/call', { name: 'nothing', arguments: {} }, 200, -32602],
    ['tools/call', { name: 'constructor', arguments: {} }, 200, -32602],
    ['tools/call', { name: 'search', arguments: { query: 'x' } }, 200, -32602],
    ['prompts/list', {}, 404, -32601],
    ['resources/read', { uri: 'agentserve://documents/x' }, 404, -32601],
    ['no/such', {}, 404, -32601],
  ])('%s with %j is %i and %i', async (method, params, status, code) => {
    const { send, messages } = await openMcp()
    expect((await send(method, params)).status).toBe(status)
    expect((await messages(method, params)).at(-1).error.code).toBe(code)
  })

  test('of an unknown version says which there are', async () => {
    const { mcp } = await openMcp()
    const version = '2031-01-01'
    const answer = await fetch(mcp, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': version,
        'mcp-method': 'tools/list',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': version,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as Any).error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'] } })
  })
})
