import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createServer } from '../../../src/index.ts'
import { type Any, openMcp, shown } from './support.ts'

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

/** With headers that fetch does not let through. */
function post(url: string, headers: Record<string, string>, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('the endpoint', () => {
  test.each(['GET', 'DELETE'])('refuses %s', async (method) => {
    const { mcp } = await openMcp()
    const answer = await fetch(mcp, { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      error: { code: -32000, message: `Send POST, not ${method}.` },
    })
  })

  test('refuses other hosts and origins', async () => {
    const { mcp } = await openMcp()
    expect(await post(mcp, { ...json, host: 'evil.example' }, list)).toBe(421)
    expect(await post(mcp, { ...json, origin: 'https://evil.example' }, list)).toBe(403)
    expect(await post(mcp, json, list)).toBe(200)
  })

  test.each([
    ['half a message', '{"jsonrpc":', 400, -32700],
    ['nothing', '', 400, -32700],
    ['a message of no kind', '{}', 400, -32600],
    ['a text', '"hello"', 400, -32600],
    ['what is too deep', `${'['.repeat(100)}${']'.repeat(100)}`, 400, -32600],
    ['a key that pollutes', `{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}`, 400, -32600],
    ['too many calls at once', JSON.stringify(Array(101).fill(JSON.parse(list))), 400, -32600],
    ['too much', `"${'x'.repeat(2_000_000)}"`, 413, -32600],
  ])('refuses %s', async (_name, body, status, code) => {
    const { mcp } = await openMcp({ server: { maxRequestSize: '1MB' } })
    const answer = await fetch(mcp, { method: 'POST', headers: json, body })
    expect([answer.status, ((await answer.json()) as Any).error.code]).toEqual([status, code])
  })

  test.each(['*/*', 'application/json', 'text/event-stream'])('answers who accepts %s', async (accept) => {
    const { mcp } = await openMcp()
    expect((await fetch(mcp, { method: 'POST', headers: { ...json, accept }, body: list })).status).toBe(200)
  })

  test('refuses what is no JSON by its type', async () => {
    const { mcp } = await openMcp()
    const answer = await fetch(mcp, { method: 'POST', headers: { ...json, 'content-type': 'text/plain' }, body: list })
    expect(answer.status).toBe(415)
  })

  test('takes a body of more than 4 MB when the server does', async () => {
    const { call } = await openMcp({ server: { maxRequestSize: '20MB' } })
    const unused = 'x'.repeat(5_000_000)
    expect(shown(await call('ask_echo', { message: 'hi', unused })).answer).toBe('Said hi')
  })

  test('is somewhere else, or not there', async () => {
    const { url } = await openMcp({ server: { mcp: { path: '/tools' } } })
    expect((await fetch(`${url}/tools`, { method: 'POST', headers: json, body: list })).status).toBe(200)
    expect((await fetch(`${url}/mcp`, { method: 'POST', headers: json, body: list })).status).toBe(404)
    const off = await openMcp({ server: { mcp: false } })
    expect((await fetch(off.mcp, { method: 'POST', headers: json, body: list })).status).toBe(404)
    expect(Object.keys(((await (await fetch(`${off.url}/openapi.json`)).json()) as Any).paths)).not.toContain('/mcp')
  })

  test('sends each header once', async () => {
    const { send } = await openMcp()
    const answer = await send('tools/call', { name: 'ask_echo', arguments: { message: 'hi' } })
    await answer.text()
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-accel-buffering')).toBe('no')
  })
})

describe('without keys', () => {
  test.each(['0.0.0.0:0', ':0'])('it works on no address like %s, whatever is allowed', async (address) => {
    const { url } = await openMcp({ server: { address, allowUnauthenticated: true } })
    const port = new URL(url).port
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers: json, body: list })
    expect(answer.status).toBe(403)
    expect(((await answer.json()) as Any).error.message).toContain('auth')
  })

  test('it works for the program that has the server', async () => {
    const server = createServer({ logger: silentLogger })
    const answer = await server.inject({ method: 'POST', url: '/mcp', headers: json, body: list })
    expect(answer.status).toBe(200)
    await answer.text()
    await server.shutdown()
  })
})

describe('with keys', () => {
  const keys = [
    'operator-'.repeat(4),
    { id: 'ann', key: 'ann-ann-ann-ann-ann', userId: 'ann' },
    { id: 'bob', key: 'bob-bob-bob-bob-bob', userId: 'bob' },
    { id: 'reader', key: 'reader-reader-reader', scopes: ['knowledge:read' as const] },
    { id: 'runner', key: 'runner-runner-runner', scopes: ['run' as const] },
  ]
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
  const open = () => openMcp({ server: { auth: { keys }, vectorDb: { type: 'memory' } } })

  test('it wants one', async () => {
    const { mcp, send } = await open()
    const answer = await fetch(mcp, { method: 'POST', headers: json, body: list })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await answer.json()).toEqual({ jsonrpc: '2.0', error: { code: -32600, message: expect.any(String) } })
    expect((await send('tools/list', {}, as('wrong'))).status).toBe(401)
    expect((await send('tools/list', {}, as(keys[0] as string))).status).toBe(200)
  })

  test.each([
    ['reader-reader-reader', ['search', 'fetch'], 'ask_echo', { message: 'hi' }, 'run'],
    [
      'runner-runner-runner',
      [
        'ask_asks',
        'ask_cashier',
        'ask_data',
        'ask_echo',
        'ask_failing',
        'ask_held',
        'ask_long',
        'ask_steps',
        'get_run',
        'answer_run',
        'cancel_run',
      ],
      'search',
      { query: 'hi' },
      'knowledge:read',
    ],
  ])('%s sees the tools of its scopes and calls no other', async (key, names, other, given, scope) => {
    const { result, call, messages, connect } = await open()
    expect((await result('tools/list', {}, as(key))).tools.map(({ name }: { name: string }) => name)).toEqual(names)
    expect(await call(other, given, as(key))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`'${scope}'`) }],
    })
    const resources = (await messages('resources/list', {}, as(key))).at(-1)
    expect(resources.error?.code).toBe(scope === 'run' ? undefined : -32601)
    const client = await connect(as(key).headers)
    expect(client.getServerCapabilities()?.resources).toEqual(scope === 'run' ? {} : undefined)
  })

  test("a user's run and session are nobody else's", async () => {
    const { call } = await open()
    const mine = shown(await call('ask_echo', { message: 'secret' }, as('ann-ann-ann-ann-ann')))
    const bob = as('bob-bob-bob-bob-bob')
    for (const [tool, given] of [
      ['get_run', { run_id: mine.run_id }],
      ['answer_run', { run_id: mine.run_id, input: 1 }],
      ['cancel_run', { run_id: mine.run_id }],
      ['ask_echo', { message: 'x', session_id: mine.session_id }],
    ] as const) {
      const result = await call(tool, given, bob)
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/^There is no (run|session)/) }],
      })
      expect(JSON.stringify(result)).not.toContain('secret')
    }
    expect(shown(await call('get_run', { run_id: mine.run_id }, as('ann-ann-ann-ann-ann'))).answer).toBe('Said secret')
  })
})
