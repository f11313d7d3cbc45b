import { Validator } from '@seriousme/openapi-schema-validator'
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { offlineSummarizer } from '../../../src/models/summarizer.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/* Walks service-specification, section by section, through a real socket. */

const api = '/api/v1'
let server: RunningTestServer
beforeAll(async () => {
  server = await startServer({ summaryManager: { summarizer: offlineSummarizer(), timeoutMs: 5000 } })
})
afterAll(() => server.close())

const message = (text: string, more: object = {}) => ({
  messageId: crypto.randomUUID(),
  role: 'user',
  agentId: 'echo',
  parts: [{ type: 'text', content: text }],
  ...more,
})
const rpc = (method: string, params: object, more: object = {}) => ({
  jsonrpc: '2.0',
  method,
  id: '1',
  params,
  ...more,
})

describe('health and documentation', () => {
  test('GET /health', async () => {
    const { status, json } = await server.call('GET', '/health')
    expect(status).toBe(200)
    expect(json).toMatchObject({ status: 'ok', service: 'agentserve' })
    expect((await server.call('GET', '/health/ready')).json).toMatchObject({ status: 'ready' })
  })

  test('GET /openapi.yaml is valid and complete', async () => {
    const { status, headers, text } = await server.call('GET', '/openapi.yaml')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/yaml/)
    const document = parse(text) as { paths: Record<string, Record<string, unknown>> }
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described).toEqual(
      expect.arrayContaining([
        'GET /health',
        'POST /api/v1/sessions',
        'GET /api/v1/sessions',
        'GET /api/v1/sessions/{id}',
        'PUT /api/v1/sessions/{id}',
        'DELETE /api/v1/sessions/{id}',
        'POST /api/v1/sessions/{id}/reuse',
        'GET /api/v1/sessions/{id}/summary',
        'POST /api/v1/sessions/{id}/summary',
        'GET /api/v1/sessions/{id}/history',
        'GET /api/v1/sessions/{id}/runs',
        'GET /api/v1/runs',
        'GET /api/v1/runs/{id}',
        'POST /api/v1/runs/{id}/cancel',
        'POST /api/v1/runs/{id}/resume',
        'GET /api/v1/runs/{id}/events',
        'GET /api/v1/agents',
        'GET /api/v1/agents/{id}',
        'POST /api/v1/agents/{id}/run',
        'POST /api/v1/agents/{id}/run/stream',
        'POST /api/v1/knowledge/search',
        'GET /api/v1/knowledge/config',
        'POST /api/v1/knowledge/content',
        'GET /api/v1/knowledge/documents',
        'GET /api/v1/knowledge/documents/{id}',
        'DELETE /api/v1/knowledge/documents/{id}',
        'GET /api/v1/knowledge/documents/{id}/chunks',
        'GET /api/v1/knowledge/chunks/{id}',
        'POST /api/v1/knowledge/reindex',
        'GET /api/v1/knowledge/status',
        'POST /api/v1/a2a/sendMessage',
        'POST /api/v1/a2a/streamMessage',
      ]),
    )
  })

  test('GET /docs is HTML whose assets all come from here', async () => {
    const { status, headers, text } = await server.call('GET', '/docs')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/html/)
    const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(assets.length).toBeGreaterThan(1)
    for (const asset of assets.filter((url) => !url.startsWith('data:'))) {
      expect(asset).not.toMatch(/^(https?:)?\/\//)
      expect((await server.call('GET', new URL(asset, 'http://x/docs').pathname)).status).toBe(200)
    }
  })
})

describe('sessions', () => {
  test('are created, read, changed, listed, reused and deleted', async () => {
    const created = await server.call('POST', `${api}/sessions`, { agent_id: 'echo', name: 'trip', metadata: { a: 1 } })
    expect(created.status).toBe(201)
    const id = created.json.session_id as string
    expect(created.headers.get('location')).toBe(`${api}/sessions/${id}`)
    const read = await server.call('GET', `${api}/sessions/${id}`)
    expect(read.json).toMatchObject({ session_id: id, agent_id: 'echo', name: 'trip', runs: [], run_count: 0 })
    const changed = await server.call('PUT', `${api}/sessions/${id}`, { name: null, metadata: { b: 2 } })
    expect(changed.json).toMatchObject({ name: null, metadata: { b: 2 } })
    const stale = await server.call('PUT', `${api}/sessions/${id}`, {}, { 'if-match': read.headers.get('etag') ?? '' })
    expect(stale).toMatchObject({ status: 412, json: { error: { code: 'precondition_failed' } } })
    const reused = await server.call('POST', `${api}/sessions/${id}/reuse`, { team_id: 'desk', agent_id: 'docs' })
    expect(reused.json).toMatchObject({ agent_id: 'docs', team_id: 'desk', shared_with: { agent_ids: ['echo'] } })
    for (const filter of ['agent_id=echo', 'agent_id=docs', 'team_id=desk']) {
      const list = await server.call('GET', `${api}/sessions?${filter}`)
      expect(list.json.sessions.map((session: { session_id: string }) => session.session_id)).toContain(id)
    }
    expect((await server.call('DELETE', `${api}/sessions/${id}`)).json).toEqual({ session_id: id, deleted: true })
    expect((await server.call('DELETE', `${api}/sessions/${id}`)).status).toBe(404)
    expect((await server.call('GET', `${api}/sessions/${id}`)).json.error.code).toBe('session_not_found')
  })

  test('show status, times, cancellation reason and cache_hit of their runs', async () => {
    const run = await server.call('POST', `${api}/agents/echo/run`, { input: 'hello there' })
    const { json } = await server.call('GET', `${api}/sessions/${run.json.session_id}`)
    expect(json.runs).toEqual([
      expect.objectContaining({
        run_id: run.json.run_id,
        status: 'completed',
        cancellation_reason: null,
        cache_hit: false,
        started_at: expect.stringMatching(/^\d{4}-.*Z$/),
        completed_at: expect.stringMatching(/^\d{4}-.*Z$/),
      }),
    ])
  })

  test('answer 404 for a summary until one is ready, 202 for a job, 200 for one written now', async () => {
    const run = await server.call('POST', `${api}/agents/echo/run`, { input: 'The blue door is left of the red one.' })
    const path = `${api}/sessions/${run.json.session_id}/summary`
    expect(await server.call('GET', path)).toMatchObject({
      status: 404,
      json: { error: { code: 'summary_not_found' } },
    })
    const scheduled = await server.call('POST', `${path}?async=true`)
    expect(scheduled).toMatchObject({ status: 202, json: { status: 'scheduled', session_id: run.json.session_id } })
    await expect.poll(async () => (await server.call('GET', path)).status).toBe(200)
    const written = await server.call('POST', `${path}?async=false`)
    expect(written).toMatchObject({ status: 200, json: { summary: { run_count: 1, message_count: 2 } } })
    expect((await server.call('GET', path)).json).toEqual(written.json)
    expect((await server.call('POST', `${path}?async=perhaps`)).status).toBe(400)
  })

  test('keep the latest N interactions in their history, with events when asked', async () => {
    const session_id = `history-${crypto.randomUUID()}`
    await server.call('POST', `${api}/sessions`, { session_id })
    for (const input of ['one', 'two', 'three'])
      await server.call('POST', `${api}/agents/echo/run`, { input, session_id })
    const { json } = await server.call('GET', `${api}/sessions/${session_id}/history?num_messages=2&stream_events=true`)
    expect(json.messages.map((one: { content: string }) => one.content)).toEqual(['two', 'two', 'three', 'three'])
    expect(json.has_more).toBe(true)
    expect(json.runs[0].events.map((event: { type: string }) => event.type)).toEqual([
      'run_start',
      'text_delta',
      'run_end',
    ])
    const without = await server.call('GET', `${api}/sessions/${session_id}/history`)
    expect(without.json.messages).toHaveLength(6)
    expect(without.json.runs[0].events).toBeUndefined()
  })
})

describe('agents', () => {
  test('are listed and run', async () => {
    const { json } = await server.call('GET', `${api}/agents`)
    expect(json.count).toBe(2)
    const run = await server.call('POST', `${api}/agents/echo/run`, { input: 'hello' })
    expect(run).toMatchObject({ status: 200, json: { agent_id: 'echo', status: 'completed', content: 'hello' } })
    const missing = await server.call('POST', `${api}/agents/nobody/run`, { input: 'x' })
    expect(missing).toMatchObject({ status: 404, json: { error: { code: 'agent_not_found' } } })
  })
})

describe('knowledge', () => {
  const long = Array.from({ length: 40 }, (_, index) => `Sentence number ${index} is about the harbour.`).join(' ')

  async function chunksOf(documentId: string) {
    const { json } = await server.call('POST', `${api}/knowledge/search`, {
      query: 'harbour',
      limit: 100,
      filters: { document_id: documentId },
    })
    return json.results as Record<string, unknown>[]
  }

  async function expectChunked(answer: { status: number; json: { document_id: string } }) {
    expect(answer).toMatchObject({ status: 201, json: { chunk_size: 200, chunk_overlap: 20 } })
    const chunks = await chunksOf(answer.json.document_id)
    expect(chunks.length).toBeGreaterThan(5)
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ chunk_size: 200, chunk_overlap: 20, chunker_type: expect.any(String) })
    const document = await server.call('GET', `${api}/knowledge/documents/${answer.json.document_id}`)
    expect(document.json.reader_metadata).toMatchObject({ chunk_size: 200, chunk_overlap: 20 })
  }

  test('is ingested as JSON with chunk settings', async () => {
    const body = { content: long, source: 'json.txt', chunk_size: 200, chunk_overlap: 20, metadata: { form: 'json' } }
    await expectChunked(await server.call('POST', `${api}/knowledge/content`, body))
  })

  test('is ingested as a multipart upload with form fields', async () => {
    const form = new FormData()
    form.set('file', new File([long], 'upload.txt', { type: 'text/plain' }))
    form.set('chunk_size', '200')
    form.set('chunk_overlap', '20')
    form.set('metadata', JSON.stringify({ form: 'multipart' }))
    await expectChunked(await server.call('POST', `${api}/knowledge/content`, form))
  })

  test('is ingested as text/plain with query parameters', async () => {
    const path = `${api}/knowledge/content?chunk_size=200&chunk_overlap=20&source=plain.txt`
    await expectChunked(await server.call('POST', path, long, { 'content-type': 'text/plain; charset=utf-8' }))
  })

  test('is searched with limit and filters', async () => {
    for (const form of ['json', 'multipart']) {
      const { json } = await server.call('POST', `${api}/knowledge/search`, {
        query: 'harbour sentence',
        limit: 3,
        filters: { form },
      })
      expect(json.count).toBe(3)
      for (const result of json.results) expect(result).toMatchObject({ metadata: { form } })
    }
  })

  test('describes its chunkers, vector databases and embedding model', async () => {
    const { json } = await server.call('GET', `${api}/knowledge/config`)
    expect(json.available_chunkers.map((chunker: { name: string }) => chunker.name)).toEqual(
      expect.arrayContaining(['character', 'sentence', 'paragraph', 'markdown', 'code']),
    )
    expect(json.available_vector_dbs).toContain('lancedb')
    expect(json.embedding_model).toMatchObject({ provider: 'static', dimensions: 128 })
  })

  test('has no routes when it is not configured', async () => {
    const without = await startServer({ vectorDb: undefined as never, sessionStorage: 'memory' })
    expect((await without.call('POST', `${api}/knowledge/search`, { query: 'x' })).json.error.code).toBe(
      'route_not_found',
    )
    expect((await without.call('GET', '/openapi.yaml')).text).not.toContain('/knowledge/')
    await without.close()
  })
})

describe('A2A', () => {
  const a2a = `${api}/a2a`
  const good = message('hello')
  const without = (field: string) => ({ ...good, [field]: '' })

  test.each([
    [
      'jsonrpc',
      rpc('sendMessage', { message: good }, { jsonrpc: '1.0' }),
      -32600,
      'invalid jsonrpc version, must be 2.0',
    ],
    ['method', rpc('cancelTask', { message: good }), -32601, 'invalid method, must be sendMessage or streamMessage'],
    ['id', rpc('sendMessage', { message: good }, { id: '' }), -32600, 'request id is required'],
    ['messageId', rpc('sendMessage', { message: without('messageId') }), -32602, 'messageId is required'],
    ['role', rpc('sendMessage', { message: without('role') }), -32602, 'role is required'],
    ['agentId', rpc('sendMessage', { message: without('agentId') }), -32602, 'agentId is required'],
    ['parts', rpc('sendMessage', { message: { ...good, parts: [] } }), -32602, 'message must have at least one part'],
    [
      'a part',
      rpc('sendMessage', { message: { ...good, parts: [{ type: 'text', content: 'a' }, { type: 'image' }] } }),
      -32602,
      'invalid part at index 1: type must be text or data',
    ],
    [
      'an unknown agent',
      rpc('sendMessage', { message: { ...good, agentId: 'nobody' } }),
      -32602,
      'agent not found: nobody',
    ],
  ])('refuses a wrong %s', async (_name, body, code, text) => {
    const answer = await server.call('POST', `${a2a}/sendMessage`, body)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ jsonrpc: '2.0', id: body.id, error: { code, message: text } })
  })

  test('stops at the first of several failures, in the specified order', async () => {
    const broken = {
      jsonrpc: '1',
      method: 'x',
      id: '',
      params: { message: { messageId: '', role: '', agentId: '', parts: [] } },
    }
    const mended: [Partial<typeof broken> & object, string][] = [
      [{}, 'invalid jsonrpc version, must be 2.0'],
      [{ jsonrpc: '2.0' }, 'invalid method, must be sendMessage or streamMessage'],
      [{ method: 'sendMessage' }, 'request id is required'],
      [{ id: '1' }, 'messageId is required'],
      [{ params: { message: { ...broken.params.message, messageId: 'm' } } }, 'role is required'],
      [{ params: { message: { ...broken.params.message, messageId: 'm', role: 'user' } } }, 'agentId is required'],
      [
        { params: { message: { ...broken.params.message, messageId: 'm', role: 'user', agentId: 'echo' } } },
        'message must have at least one part',
      ],
    ]
    let body = broken
    for (const [step, text] of mended) {
      body = { ...body, ...step }
      expect((await server.call('POST', `${a2a}/sendMessage`, body)).json.error.message).toBe(text)
    }
  })

  test('answers malformed JSON with a parse error', async () => {
    const answer = await server.call('POST', `${a2a}/sendMessage`, '{"jsonrpc":', {
      'content-type': 'application/json',
    })
    expect(answer.json).toMatchObject({ id: null, error: { code: -32700 } })
  })

  test('answers a message with a completed task', async () => {
    const contextId = `context-${crypto.randomUUID()}`
    const { json } = await server.call(
      'POST',
      `${a2a}/sendMessage`,
      rpc('sendMessage', { message: message('hello', { contextId }) }),
    )
    expect(json).toMatchObject({ jsonrpc: '2.0', id: '1', result: { task: { status: 'completed' } } })
    expect(json.result.task.messages).toEqual([
      expect.objectContaining({
        role: 'assistant',
        agentId: 'echo',
        contextId,
        parts: [{ type: 'text', content: 'hello' }],
      }),
    ])
    expect((await server.call('GET', `${api}/sessions/${contextId}`)).json.run_count).toBe(1)
    expect((await server.call('GET', `${api}/runs/${json.result.task.taskId}`)).json.session_id).toBe(contextId)
  })

  test('streams content fragments and done, to the byte', async () => {
    const answer = await server.call(
      'POST',
      `${a2a}/streamMessage`,
      rpc('streamMessage', { message: message('one two') }),
      {
        accept: 'text/event-stream',
      },
    )
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(answer.text).toBe(
      'data: {"type":"content","content":"one "}\n\ndata: {"type":"content","content":"two"}\n\ndata: {"type":"done"}\n\n',
    )
    const events: unknown[] = []
    const parser = createParser({ onEvent: (event) => events.push(JSON.parse(event.data)) })
    parser.feed(answer.text)
    expect(events).toEqual([
      { type: 'content', content: 'one ' },
      { type: 'content', content: 'two' },
      { type: 'done' },
    ])
  })

  test('answers 64 requests at once, each its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        server.call(
          'POST',
          `${a2a}/sendMessage`,
          rpc('sendMessage', { message: message(`text ${index}`) }, { id: `r${index}` }),
        ),
      ),
    )
    answers.forEach(({ json }, index) => {
      expect(json.id).toBe(`r${index}`)
      expect(json.result.task.messages[0].parts[0].content).toBe(`text ${index}`)
    })
    expect(new Set(answers.map(({ json }) => json.result.task.taskId)).size).toBe(64)
  })
})

describe('configuration', () => {
  test('moves prefix, health path and A2A prefix', async () => {
    const moved = await startServer({
      prefix: '/service',
      healthPath: '/alive',
      a2a: { prefix: '/talk' },
      sessionStorage: 'memory',
    })
    expect((await moved.call('GET', '/service/agents')).status).toBe(200)
    expect((await moved.call('GET', `${api}/agents`)).status).toBe(404)
    expect((await moved.call('GET', '/alive')).status).toBe(200)
    expect((await moved.call('GET', '/health')).status).toBe(404)
    expect(
      (await moved.call('POST', '/talk/sendMessage', rpc('sendMessage', { message: message('x') }))).json.result.task
        .status,
    ).toBe('completed')
    await moved.close()
  })

  test('limits the size of requests and the time they take, and allows named origins', async () => {
    const limited = await startServer(
      { maxRequestSize: '1KB', requestTimeout: 50, allowOrigins: ['https://app.example'], sessionStorage: 'memory' },
      { slow: (await import('../../../src/runnables/agent/agent.ts')).agent({ run: () => never() }) },
    )
    const large = await limited.call('POST', `${api}/agents/echo/run`, { input: 'x'.repeat(2000) })
    expect(large).toMatchObject({ status: 413, json: { error: { code: 'payload_too_large' } } })
    const late = await limited.call('POST', `${api}/agents/slow/run`, { input: 'x' })
    expect(late).toMatchObject({ status: 504, json: { error: { code: 'timeout' } } })
    expect(late.json.error.message).toContain('requestTimeout')
    expect((await limited.call('GET', `${api}/runs/${late.json.error.run_id}`)).json).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'timeout',
    })
    const allowed = await limited.call('GET', `${api}/agents`, undefined, { origin: 'https://app.example' })
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example')
    await limited.close()
  })

  test('attaches a custom health handler, and resyncs the documentation', async () => {
    const { agent } = await import('../../../src/runnables/agent/agent.ts')
    const custom = await startServer({ sessionStorage: 'memory' })
    custom.server
      .healthRouter()
      .route({ handler: () => ({ status: 200, body: { kind: 'text', text: 'fine', mediaType: 'text/plain' } }) })
    expect((await custom.call('GET', '/health')).text).toBe('fine')
    custom.server.registerAgent('late', agent({ sideEffects: false, run: () => ['late'] }))
    custom.server.resync()
    expect((await custom.call('POST', `${api}/agents/late/run`, { input: 'x' })).json.content).toBe('late')
    expect(() => custom.server.registerAgent('late', agent({ run: () => [] }))).toThrow(/already taken/)
    expect(() => custom.server.registerAgent('', agent({ run: () => [] }))).toThrow(/empty/)
    await custom.close()
  })
})

async function* never(): AsyncGenerator<string> {
  await new Promise(() => {})
  yield ''
}
