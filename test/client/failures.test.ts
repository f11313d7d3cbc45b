import { afterEach, expect, test } from 'vitest'
import { createClient } from '../../src/client/create.ts'
import type { AppError } from '../../src/core/error.ts'
import { answer, openScriptedServer, type Script, type SeenRequest } from '../support/scripted-server.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(script: Script, options: { key?: string; timeoutMs?: number; retries?: number } = {}) {
  const server = await openScriptedServer(script)
  const client = createClient({ url: `${server.url}/`, ...options })
  closers.push(server.close, () => client.close())
  return { ...server, client }
}

test('rebuilds the error with all that the server said', async () => {
  const details = [{ path: 'limit', message: 'too many' }]
  const { client } = await open(
    (_request, response) => {
      const error = { code: 'rate_limited', message: 'slow down', details, run_id: 'run_1', session_id: 'ses_1' }
      answer(response, 429, { error, request_id: 'req_1' }, { 'retry-after': '7', 'x-request-id': 'req_1' })
    },
    { retries: 0 },
  )
  await expect(client.agents.list()).rejects.toMatchObject({
    name: 'AppError',
    code: 'rate_limited',
    status: 429,
    requestId: 'req_1',
    message: 'slow down',
    details,
    runId: 'run_1',
    sessionId: 'ses_1',
    retryAfterSeconds: 7,
  })
})

test.each([
  [404, '{"error":{"code":"thing_of_tomorrow_not_found","message":"no"}}', 'route_not_found', 'no'],
  [500, '<html>oops</html>', 'internal', expect.stringContaining('answered 500')],
  [504, '', 'timeout', expect.stringContaining('answered 504')],
  [302, '', 'invalid_request', expect.stringContaining('answered 302')],
  [418, '{"error":"teapot"}', 'invalid_request', expect.stringContaining('answered 418')],
  [401, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no key"}}', 'unauthorized', 'no key'],
])('makes an error of a %i that says %s', async (status, body, code, message) => {
  const { client } = await open((_request, response) => answer(response, status, body))
  await expect(client.health()).rejects.toMatchObject({ code, message })
})

const answers: [string, string, string][] = [
  ['a page', 'text/html', '<!doctype html><title>Sign in</title>'],
  ['cut JSON', 'application/json', '{"status":"ok","serv'],
  ['JSON that is no object', 'application/json', '["ok"]'],
  ['null', 'application/json', 'null'],
  ['a text', 'application/json', '"ok"'],
  ['nothing', 'application/json', ''],
]

test.each(answers)('says that a 200 with %s is no answer', async (_, type, body) => {
  const { client, seen } = await open((_request, response) => answer(response, 200, body, { 'content-type': type }))
  const wrong = {
    code: 'internal',
    message: expect.stringMatching(/sent (an answer|JSON).*is it an agentserve server\?$/),
  }
  await expect(client.health()).rejects.toMatchObject(wrong)
  await expect(client.agents.run('a', { input: 'x' })).rejects.toMatchObject(wrong)
  const noStream = { code: 'internal', message: expect.stringContaining(`sent ${type} instead of a stream`) }
  await expect(client.agents.stream('a', { input: 'x' })).rejects.toMatchObject(noStream)
  await expect(client.runs.events('run_1')).rejects.toMatchObject(noStream)
  const notA2A = { code: 'internal', message: expect.stringContaining('not A2A') }
  await expect(client.a2a.send({ agentId: 'a', content: 'x' })).rejects.toMatchObject(notA2A)
  await expect(client.a2a.stream({ agentId: 'a', content: 'x' })).rejects.toMatchObject(notA2A)
  // None of them gets better by asking again.
  expect(seen).toHaveLength(6)
})

test('takes of an error only what is of its shape', async () => {
  const details = ['junk', { path: 1 }, null, { path: 'limit', message: 'too many' }]
  const { client } = await open((_request, response) =>
    answer(response, 400, { error: { code: 'invalid_request', message: 7, details, run_id: {} } }),
  )
  await expect(client.health()).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('answered 400'),
    details: [{ path: 'limit', message: 'too many' }],
    runId: undefined,
  })
})

test('gives up an answer that is too large', async () => {
  const { client } = await open((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const more = () => {
      while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', more)
    }
    more()
  })
  await expect(client.health()).rejects.toMatchObject({ code: 'payload_too_large' })
})

test('names the URL of a server that is not there', async () => {
  const { url, close } = await openScriptedServer(() => {})
  await close()
  for (const fetch of [undefined, globalThis.fetch]) {
    const client = createClient({ url, fetch, retries: 0 })
    closers.push(() => client.close())
    await expect(client.health()).rejects.toMatchObject({
      code: 'unavailable',
      message: `No answer from ${url}: nothing listens there; is the server running?`,
    })
  }
})

test('sends the key and puts a path of the URL before its own', async () => {
  const { url, seen } = await open((_request, response) => answer(response, 200, { agents: [], count: 0 }))
  const client = createClient({ url: `${url}/behind/proxy/`, apiKey: 'k-1', prefix: '/v2' })
  closers.push(() => client.close())
  await client.agents.list()
  expect(seen[0]).toMatchObject({ url: '/behind/proxy/v2/agents', headers: { authorization: 'Bearer k-1' } })
})

test('asks again after a cut connection or a 503, under the same Idempotency-Key, and not for ever', async () => {
  const { client, seen } = await open((_request, response, index) => {
    if (index === 0) response.destroy()
    else if (index === 1) answer(response, 503, { error: { code: 'unavailable', message: 'busy' } })
    else answer(response, 201, { session_id: 'ses_1' })
  })
  expect(await client.sessions.create({ name: 'n' })).toEqual({ session_id: 'ses_1' })
  const keys = seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toMatch(/^[\x21-\x7e]{16,255}$/)
  expect(new Set(keys).size).toBe(1)
  expect(new Set(seen.map(({ body }) => body))).toEqual(new Set(['{"name":"n"}']))

  const busy = await open((_request, response) =>
    answer(response, 503, { error: { code: 'unavailable', message: 'busy' } }),
  )
  await expect(busy.client.agents.run('a', { input: 'x' })).rejects.toMatchObject({
    code: 'unavailable',
    message: 'busy',
  })
  expect(busy.seen).toHaveLength(3)
})

test('asks again when an answer is cut in the middle', async () => {
  const { client, seen } = await open((_request, response, index) => {
    if (index > 0) return answer(response, 200, { agents: [], count: 0 })
    response.writeHead(200, { 'content-length': '1000' })
    response.write('{"agents":', () => response.destroy())
  })
  expect(await client.agents.list()).toEqual({ agents: [], count: 0 })
  expect(seen).toHaveLength(2)
})

test('never repeats what twice is not once', async () => {
  const { client, seen } = await open((_request, response) => response.destroy())
  await expect(client.runs.cancel('run_1')).rejects.toMatchObject({ code: 'unavailable' })
  await expect(client.runs.resume('run_1', {})).rejects.toMatchObject({ code: 'unavailable' })
  await expect(client.sessions.delete('s')).rejects.toMatchObject({ code: 'unavailable' })
  await expect(client.sessions.update('s', {}, { ifMatch: '"1"' })).rejects.toMatchObject({ code: 'unavailable' })
  expect(seen).toHaveLength(4)
})

test('never repeats what the server refused', async () => {
  const { client, seen } = await open((_request, response) =>
    answer(response, 500, { error: { code: 'run_failed', message: 'no' } }),
  )
  await expect(client.agents.run('a', { input: 'x' })).rejects.toMatchObject({ code: 'run_failed' })
  expect(seen).toHaveLength(1)
})

test('stops asking again when the caller aborts', async () => {
  const controller = new AbortController()
  const { client, seen } = await open((_request, response) => {
    answer(response, 503, { error: { code: 'unavailable', message: 'busy' } }, { 'retry-after': '60' })
    setImmediate(() => controller.abort(new Error('enough')))
  })
  await expect(client.health({ signal: controller.signal })).rejects.toThrow('enough')
  expect(seen).toHaveLength(1)
})

test('limits the time of answers that wait for nothing', async () => {
  const { client } = await open(() => {}, { timeoutMs: 30 })
  const error = (await client.health().catch((caught: unknown) => caught)) as AppError
  expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('within 30 ms') })
})

test('sends text as JSON and files as a form that arrives whole', async () => {
  const { client, seen } = await open((_request, response) => answer(response, 201, { document_id: 'doc_1' }))
  await client.knowledge.ingest({ text: 'hello' }, { source: 's', chunk_size: 10 })
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ content: 'hello', source: 's', chunk_size: 10 })
  const bytes = new TextEncoder().encode('# Title\r\n\r\n--x')
  const settings = { source: 'docs/a.md', chunk_size: 500, metadata: { tags: ['a', 'ü'] } }
  await client.knowledge.ingest({ bytes, filename: 'a "quoted"\n.md', mediaType: 'text/markdown' }, settings)
  const { body = '', headers = {} }: Partial<SeenRequest> = seen[1] ?? {}
  const form = await new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
  expect(form.get('source')).toBe('docs/a.md')
  expect(form.get('chunk_size')).toBe('500')
  expect(JSON.parse(String(form.get('metadata')))).toEqual({ tags: ['a', 'ü'] })
  const file = form.get('file') as File
  expect([file.type, await file.text()]).toEqual(['text/markdown', '# Title\r\n\r\n--x'])
  expect(headers['idempotency-key']).toBeDefined()
})

test('follows a reindexing to its end, whichever that is', async () => {
  const progress = { type: 'progress', step: 'embed', done: 1, total: 2 }
  const status = { collection: 'default', chunks: 2 }
  const full = { code: 'storage_full', message: 'No room.' }
  const ends = [[{ type: 'done', status }], [{ type: 'error', error: full }], []]
  const { client, seen } = await open((_request, response, index) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of [progress, ...(ends[index] ?? [])]) response.write(`data: ${JSON.stringify(event)}\n\n`)
    if (index < ends.length) response.end()
  })
  const told: unknown[] = []
  const reindex = () => client.knowledge.reindex(undefined, { onProgress: (now) => told.push(now) })
  expect(await reindex()).toEqual(status)
  await expect(reindex()).rejects.toMatchObject(full)
  await expect(reindex()).rejects.toMatchObject({ code: 'unavailable' })
  expect(told).toEqual(Array(3).fill({ step: 'embed', done: 1, total: 2 }))
  const leaving = new AbortController()
  const enough = new Error('enough')
  const onProgress = () => leaving.abort(enough)
  await expect(client.knowledge.reindex(undefined, { onProgress, signal: leaving.signal })).rejects.toBe(enough)
  expect(seen[0]?.headers.accept).toBe('text/event-stream')
})

test('asks the knowledge base by its routes', async () => {
  const { client, seen } = await open((request, response) => {
    if (!request.url.endsWith('/reindex')) return answer(response, 200, {})
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end('data: {"type":"done","status":{}}\n\n')
  })
  await client.knowledge.search('what', { limit: 3, mode: 'keyword', filters: { source: ['a', 'b'] } })
  await client.knowledge.config()
  await client.knowledge.status()
  await client.knowledge.reindex('lexical')
  await client.knowledge.documents.list({ source: 'a b' }, { limit: 5 })
  await client.knowledge.documents.get('doc/1')
  await client.knowledge.documents.delete('doc_1')
  expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`.trim())).toEqual([
    'POST /api/v1/knowledge/search {"query":"what","limit":3,"mode":"keyword","filters":{"source":["a","b"]}}',
    'GET /api/v1/knowledge/config',
    'GET /api/v1/knowledge/status',
    'POST /api/v1/knowledge/reindex {"embedder":"lexical"}',
    'GET /api/v1/knowledge/documents?source=a+b&limit=5',
    'GET /api/v1/knowledge/documents/doc%2F1',
    'DELETE /api/v1/knowledge/documents/doc_1',
  ])
})
