import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type RunningTestServer, startServer } from '../../support/server.ts'

/* Every route, every way of getting it wrong: one clear error each, and nothing half-stored. */

const api = '/api/v1'
let server: RunningTestServer
beforeAll(async () => {
  server = await startServer({ maxRequestSize: '64KB' })
  await server.call('POST', `${api}/sessions`, { session_id: 'known' })
})
afterAll(() => server.close())

const jsonRoutes = [
  ['POST', '/sessions'],
  ['PUT', '/sessions/known'],
  ['POST', '/sessions/known/reuse'],
  ['POST', '/agents/echo/run'],
  ['POST', '/agents/echo/run/stream'],
  ['POST', '/knowledge/search'],
  ['POST', '/knowledge/content'],
] as const

async function counts() {
  const [sessions, runs, documents] = await Promise.all(
    ['sessions', 'runs', 'knowledge/documents'].map((list) => server.call('GET', `${api}/${list}?limit=100`)),
  )
  return { sessions: sessions?.json.count, runs: runs?.json.count, documents: documents?.json.count }
}

function expectError(answer: Answer, status: number, code: string, path?: string) {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.json).toEqual({
    error: expect.objectContaining({ code, message: expect.stringMatching(/\S/) }),
    request_id: answer.headers.get('x-request-id'),
  })
  if (path !== undefined) {
    expect(answer.json.error.details?.map((detail: { path: string }) => detail.path)).toContain(path)
  }
}

async function storesNothing(work: () => Promise<void>) {
  const before = await counts()
  await work()
  expect(await counts()).toEqual(before)
}

describe.each(jsonRoutes)('%s %s', (method, route) => {
  const send = (body: string, type = 'application/json') =>
    server.call(method, api + route, body, { 'content-type': type })

  test.each([
    ['malformed JSON', '{"a":', 400, 'invalid_request'],
    ['a body that is no object', '[1,2]', 400, 'invalid_request'],
    ['too deep', '['.repeat(100) + ']'.repeat(100), 400, 'invalid_request'],
    ['a forbidden key', '{"__proto__":{"admin":true}}', 400, 'invalid_request'],
    ['too large', JSON.stringify({ input: 'x'.repeat(80_000) }), 413, 'payload_too_large'],
    ['bytes that are not UTF-8', '', 400, 'invalid_request'],
  ])('refuses %s', (name, body, status, code) =>
    storesNothing(async () => {
      const payload = name.startsWith('bytes') ? new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) : body
      expectError(await server.call(method, api + route, payload, { 'content-type': 'application/json' }), status, code)
    }),
  )

  test('refuses a foreign content type and an unknown charset', () =>
    storesNothing(async () => {
      expectError(await send('<a/>', 'application/xml'), 415, 'unsupported_media_type')
      expectError(await send('{}', 'application/json; charset=klingon'), 415, 'unsupported_media_type')
    }))

  test('refuses a foreign origin', () =>
    storesNothing(async () => {
      const headers = { 'content-type': 'application/json', origin: 'https://evil.example' }
      expectError(await server.call(method, api + route, '{}', headers), 403, 'forbidden')
    }))
})

describe('fields', () => {
  test.each([
    ['POST', '/sessions', { session_id: 7 }, 'session_id'],
    ['POST', '/sessions', { session_id: 'a b' }, 'session_id'],
    ['POST', '/sessions', { agentId: 'echo' }, 'agentId'],
    ['POST', '/sessions', { metadata: [] }, 'metadata'],
    ['PUT', '/sessions/known', { name: 5 }, 'name'],
    ['POST', '/sessions/known/reuse', { agent_id: '' }, 'agent_id'],
    ['POST', '/agents/echo/run', {}, 'input'],
    ['POST', '/agents/echo/run', { input: 5 }, 'input'],
    ['POST', '/agents/echo/run', { input: 'x', stream: 'yes' }, 'stream'],
    ['POST', '/agents/echo/run', { input: 'x', sessionId: 'known' }, 'sessionId'],
    ['POST', '/agents/echo/run', { input: 'x', multitask_strategy: 'rollback' }, 'multitask_strategy'],
    ['POST', '/agents/echo/run', { input: { parts: [{ type: 'image' }] } }, 'input.parts.0.type'],
    ['POST', '/knowledge/search', {}, 'query'],
    ['POST', '/knowledge/search', { query: 'x', limit: 0 }, 'limit'],
    ['POST', '/knowledge/search', { query: 'x', limit: 101 }, 'limit'],
    ['POST', '/knowledge/search', { query: 'x', filters: { 'a b': 1 } }, 'filters.a b'],
    ['POST', '/knowledge/content', { content: '' }, 'content'],
    ['POST', '/knowledge/content', { content: 'x', chunk_size: 0 }, 'chunk_size'],
    ['POST', '/knowledge/content', { content: 'x', chunk_size: '5' }, 'chunk_size'],
    ['POST', '/knowledge/content', { content: 'x', chunk_size: 5, chunk_overlap: 5 }, 'chunk_overlap'],
    ['POST', '/knowledge/content', { content: 'x', chunker_type: 'magic' }, 'chunker_type'],
  ])('%s %s refuses %j and names the path', (method, route, body, path) =>
    storesNothing(async () => expectError(await server.call(method, api + route, body), 400, 'invalid_request', path)),
  )

  test.each([
    ['/sessions?limit=0', 'limit'],
    ['/sessions?limit=many', 'limit'],
    ['/sessions?cursor=nonsense', 'cursor'],
    ['/runs?status=asleep', 'status'],
    ['/agents?kind=robot', 'kind'],
    ['/sessions/known/history?num_messages=0', 'num_messages'],
    ['/sessions/known/history?stream_events=perhaps', 'stream_events'],
    ['/knowledge/documents?limit=1000', 'limit'],
    ['/knowledge/chunks/chk_any?context=6', 'context'],
  ])('GET %s names the parameter', async (route, path) => {
    expectError(await server.call('GET', api + route), 400, 'invalid_request', path)
  })
})

describe('ids and routes that do not exist', () => {
  test.each([
    ['GET', '/sessions/gone', 'session_not_found'],
    ['PUT', '/sessions/gone', 'session_not_found'],
    ['DELETE', '/sessions/gone', 'session_not_found'],
    ['POST', '/sessions/gone/reuse', 'session_not_found'],
    ['GET', '/sessions/gone/history', 'session_not_found'],
    ['GET', '/sessions/gone/runs', 'session_not_found'],
    ['GET', '/sessions/gone/summary', 'session_not_found'],
    ['GET', '/agents/gone', 'agent_not_found'],
    ['POST', '/agents/gone/run', 'agent_not_found'],
    ['GET', '/runs/run_gone', 'run_not_found'],
    ['POST', '/runs/run_gone/cancel', 'run_not_found'],
    ['POST', '/runs/run_gone/resume', 'run_not_found'],
    ['GET', '/runs/run_gone/events', 'run_not_found'],
    ['GET', '/knowledge/documents/doc_gone', 'document_not_found'],
    ['DELETE', '/knowledge/documents/doc_gone', 'document_not_found'],
    ['GET', '/knowledge/documents/doc_gone/chunks', 'document_not_found'],
    ['GET', '/knowledge/chunks/chk_gone', 'chunk_not_found'],
    ['GET', '/nothing/here', 'route_not_found'],
  ])('%s %s is 404', async (method, route, code) => {
    const body = method === 'PUT' || route.endsWith('reuse') || route.endsWith('run') ? '{"wrong":' : undefined
    expectError(
      await server.call(method, api + route, body, body ? { 'content-type': 'application/json' } : {}),
      404,
      code,
    )
  })

  test('a wrong method is 405 and says which are right', async () => {
    const answer = await server.call('PATCH', `${api}/sessions`)
    expectError(answer, 405, 'method_not_allowed')
    expect(answer.headers.get('allow')).toMatch(/GET.*POST|POST.*GET/)
  })
})

describe('uploads', () => {
  const upload = (form: FormData) => server.call('POST', `${api}/knowledge/content`, form)
  const file = (content: string | Uint8Array, name = 'a.txt', type = 'text/plain') => {
    const form = new FormData()
    form.set('file', new File([content as string], name, { type }))
    return form
  }

  test('without a file, with bad metadata, with letters for digits: 400 with the path', () =>
    storesNothing(async () => {
      const form = new FormData()
      form.set('chunk_size', '5')
      expectError(await upload(form), 400, 'invalid_request', 'file')
      const metadata = file('text')
      metadata.set('metadata', '{"a":')
      expectError(await upload(metadata), 400, 'invalid_request', 'metadata')
      const digits = file('text')
      digits.set('chunk_size', 'ten')
      expectError(await upload(digits), 400, 'invalid_request', 'chunk_size')
    }))

  test('of something unreadable: 422 with the reason', () =>
    storesNothing(async () => {
      const bytes = new Uint8Array(2000).map((_, index) => (index * 7) % 256)
      expectError(await upload(file(bytes, 'a.bin', 'application/octet-stream')), 422, 'unreadable_document')
    }))

  test('too large: 413', () =>
    storesNothing(async () => expectError(await upload(file('x'.repeat(100_000))), 413, 'payload_too_large')))

  test('of a broken multipart body: 400', () =>
    storesNothing(async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' }
      expectError(
        await server.call('POST', `${api}/knowledge/content`, 'no boundary here', headers),
        400,
        'invalid_request',
      )
    }))

  test('without a content type: 415', () =>
    storesNothing(async () => {
      const answer = await server.call('POST', `${api}/knowledge/content`, new Uint8Array([97]))
      expectError(answer, 415, 'unsupported_media_type')
    }))
})
