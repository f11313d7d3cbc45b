import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type RunningTestServer, startServer } from '../support/server.ts'

/* What the server refuses before a protocol reads it: in that protocol's own shape, and nothing is begun. */

const key = { authorization: 'Bearer the-key-of-the-tests' }
let server: RunningTestServer
beforeAll(async () => {
  server = await startServer({ auth: { keys: ['the-key-of-the-tests'] }, maxRequestSize: '4KB' })
})
afterAll(() => server.close())

/** What is wrong with an answer in the shape of the protocol. */
const shapes = {
  'one sentence': ({ text: said, headers }: Answer) => {
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(headers.get('x-error-code')).toMatch(/^[a-z_]+$/)
    expect(said).toMatch(/^[A-Z][^{}\n]*\.?$/)
  },
  'an error of the API': ({ headers, json }: Answer) => {
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(json).toEqual({
      error: expect.objectContaining({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) }),
      request_id: expect.any(String),
    })
  },
  'an error of JSON-RPC': ({ json }: Answer) => {
    expect(json).toEqual({ jsonrpc: '2.0', id: null, error: expect.objectContaining({ message: expect.any(String) }) })
    expect(json.error.code).toBeLessThan(-32000)
  },
  'an error of HTTP+JSON': ({ status, headers, json }: Answer) => {
    expect(headers.get('content-type')).toBe('application/a2a+json')
    expect(json.error).toMatchObject({
      code: status,
      status: expect.stringMatching(/^[A-Z_]+$/),
      details: expect.any(Array),
    })
  },
}

/** `fetch` does not let anybody choose the host. */
async function postAs(host: string, path: string, body: object): Promise<Answer> {
  const headers = { ...key, 'content-type': 'application/json', host }
  const sent = request(new URL(path, server.url), { method: 'POST', headers })
  sent.end(JSON.stringify(body))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const said = await text(answer)
  const isJson = answer.headers['content-type']?.includes('json') === true
  return {
    status: answer.statusCode ?? 0,
    headers: new Headers(answer.headers as Record<string, string>),
    text: said,
    json: isJson ? JSON.parse(said) : undefined,
  }
}

const rpc = (method: string) => ({ jsonrpc: '2.0', id: 1, method, params: {} })
const ways: { way: string; path: string; body: object; shape: keyof typeof shapes }[] = [
  { way: 'useChat', path: '/chat/echo', body: { id: 'c1', messages: [] }, shape: 'one sentence' },
  { way: 'the end of a chat', path: '/chat/echo/c1/stop', body: {}, shape: 'one sentence' },
  { way: 'AG-UI', path: '/ag-ui/echo', body: { threadId: 't1', runId: 'r1' }, shape: 'an error of the API' },
  { way: 'A2A 1.0', path: '/a2a/agents/echo', body: rpc('SendMessage'), shape: 'an error of JSON-RPC' },
  { way: 'A2A 0.3', path: '/a2a/agents/echo', body: rpc('message/send'), shape: 'an error of JSON-RPC' },
  { way: 'A2A over HTTP+JSON', path: '/a2a/agents/echo/message:send', body: {}, shape: 'an error of HTTP+JSON' },
  { way: 'a stream over HTTP+JSON', path: '/a2a/agents/echo/message:stream', body: {}, shape: 'an error of HTTP+JSON' },
  { way: 'the simple dialect', path: '/a2a/sendMessage', body: rpc('sendMessage'), shape: 'an error of JSON-RPC' },
]

describe.each(ways)('$way refuses', ({ path, body, shape }) => {
  const post = (given: unknown, headers: Record<string, string>) =>
    server.call('POST', `/api/v1${path}`, given, headers)
  const json = { ...key, 'content-type': 'application/json' }

  test.each<[string, number, unknown, Record<string, string>]>([
    ['no key', 401, body, { 'content-type': 'application/json' }],
    ['a wrong key', 401, body, { ...json, authorization: 'Bearer another' }],
    ['a page of another origin', 403, body, { ...json, origin: 'https://evil.example' }],
    ['a body that is too large', 413, { ...body, x: 'x'.repeat(5_000) }, json],
    ['another type of content', 415, '<a/>', { ...json, 'content-type': 'application/xml' }],
    ['an unknown charset', 415, '{}', { ...json, 'content-type': 'application/json; charset=klingon' }],
  ])('%s with %i', async (_what, status, given, headers) => {
    const answer = await post(given, headers)
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)])
    shapes[shape](answer)
    expect(answer.text).not.toMatch(/the-key-of-the-tests|node_modules|\.ts:/)
    if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    const { json: runs } = await server.call('GET', '/api/v1/runs', undefined, key)
    expect(runs.count).toBe(0)
  })

  test('the host of another with 421', async () => {
    const answer = await postAs('evil.example', `/api/v1${path}`, body)
    expect(answer.status).toBe(421)
    shapes[shape](answer)
  })

  test.each([
    ['half of JSON', '{"id":'],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['what is too deep', `{"x":${'['.repeat(200)}${']'.repeat(200)}}`],
    ['a prototype', '{"__proto__":{"admin":true}}'],
  ])('%s', async (_what, given) => {
    const answer = await post(given, json)
    // An error of JSON-RPC is an answer.
    expect(answer.status).toBe(shape === 'an error of JSON-RPC' ? 200 : 400)
    shapes[shape](answer)
  })
})
