import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ServerConfig } from '../../src/config/types.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { parseImports } from '../support/floors.ts'
import { audience, configurationPath, keysPath, openIssuer, sendJson } from '../support/issuer.ts'
import { startServer } from '../support/server.ts'

const api = '/api/v1'

async function opened(
  settings: Partial<NonNullable<NonNullable<ServerConfig['auth']>['jwt']>> = {},
  more: ServerConfig = {},
) {
  const issuer = await openIssuer()
  onTestFinished(() => issuer.stop())
  const jwt = { issuer: issuer.url, audience, scopeClaim: 'scope', operatorScope: 'boss', ...settings }
  let proceed = () => {}
  const held = new Promise<void>((resolve) => {
    proceed = resolve
  })
  const waits = agent({
    async *run() {
      yield 'first '
      await held
      yield 'last'
    },
  })
  const server = await startServer({ ...more, auth: { ...more.auth, jwt } }, { waits })
  onTestFinished(() => server.close())
  const as =
    (token: string) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      server.call(method, path, body, { authorization: `Bearer ${token}`, ...headers })
  return { issuer, server, as, proceed }
}

test('every protocol answers the user of a token, and each sees the same sessions', async () => {
  const { issuer, as } = await opened()
  const ann = as(await issuer.sign({ scope: 'run sessions' }))
  const message = { messageId: 'm-1', role: 'user', agentId: 'echo', parts: [{ type: 'text', content: 'hello' }] }
  const official = { messageId: 'm-2', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const rpc = { jsonrpc: '2.0', id: '1' }
  const posts: [string, unknown, Record<string, string>?][] = [
    [`${api}/agents/echo/run`, { input: 'hello' }],
    [`${api}/a2a/sendMessage`, { ...rpc, method: 'sendMessage', params: { message } }],
    [
      `${api}/a2a/agents/echo`,
      { ...rpc, method: 'SendMessage', params: { message: official } },
      { 'a2a-version': '1.0' },
    ],
    [`${api}/chat/echo`, { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }] }],
    [`${api}/ag-ui/echo`, { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'hello' }] }],
    ['/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hello' }] }],
    ['/v1/responses', { model: 'echo', input: 'hello' }],
    [
      '/mcp',
      { ...rpc, method: 'tools/call', params: { name: 'ask_echo', arguments: { message: 'hello' } } },
      { accept: 'application/json, text/event-stream' },
    ],
  ]
  for (const [path, body, headers] of posts) {
    const answer = await ann('POST', path, body, headers)
    expect([path, answer.status, answer.text]).toEqual([path, 200, expect.stringContaining('hello')])
  }
  const { sessions } = (await ann('GET', `${api}/sessions?limit=100`)).json
  expect(sessions.length).toBeGreaterThanOrEqual(posts.length - 1)
  expect(new Set(sessions.map(({ user_id }: { user_id: string }) => user_id))).toEqual(new Set(['ann']))
  const bob = as(await issuer.sign({ sub: 'bob', scope: 'run sessions' }))
  expect((await bob('GET', `${api}/sessions`)).json.sessions).toEqual([])
})

test('two tokens of one person have each their own rights', async () => {
  const { issuer, as } = await opened({}, { limits: { concurrentRuns: 5 } })
  const user = as(await issuer.sign({ scope: 'run sessions' }))
  const boss = as(await issuer.sign({ scope: 'boss' }))
  const bob = as(await issuer.sign({ sub: 'bob', scope: 'run sessions' }))
  const { session_id } = (await bob('POST', `${api}/agents/echo/run`, { input: 'of bob' })).json
  for (let time = 0; time < 2; time++) {
    expect((await boss('GET', `${api}/sessions/${session_id}`)).status).toBe(200)
    expect((await user('GET', `${api}/sessions/${session_id}`)).status).toBe(404)
  }
  expect((await user('GET', `${api}/me`)).json).toMatchObject({
    user_id: 'ann',
    key_id: 'jwt:ann',
    scopes: ['run', 'sessions'],
  })
  expect((await boss('GET', `${api}/me`)).json).toMatchObject({
    user_id: null,
    key_id: 'jwt:ann',
    can: { config: true },
  })
})

test('a caller has its quota of runs over all its tokens', async () => {
  const { issuer, as, proceed } = await opened({}, { limits: { concurrentRuns: 1 } })
  const [first, second] = [await issuer.sign({ scope: 'run' }), await issuer.sign({ scope: 'run', jti: '2' })]
  const run = { input: 'x', background: true }
  const started = await as(first)('POST', `${api}/agents/waits/run`, run)
  expect(started.status).toBe(202)
  expect((await as(second)('POST', `${api}/agents/waits/run`, run)).status).toBe(429)
  expect(
    (await as(await issuer.sign({ sub: 'bob', scope: 'run' }))('POST', `${api}/agents/waits/run`, run)).status,
  ).toBe(202)
  proceed()
  await expect.poll(async () => (await as(second)('POST', `${api}/agents/echo/run`, { input: 'x' })).status).toBe(200)
})

test('a stream goes on when its token expires, and the next request needs a new one', { timeout: 15_000 }, async () => {
  const { issuer, server, as, proceed } = await opened({ clockSkew: 0 })
  const token = await issuer.sign({ scope: 'run', exp: Math.floor(Date.now() / 1000) + 2 })
  const answer = await fetch(`${server.url}${api}/agents/waits/run/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"input": "x"}',
  })
  expect(answer.status).toBe(200)
  const me = async () => (await as(token)('GET', `${api}/me`)).status
  expect(await me()).toBe(200)
  await expect.poll(me, { timeout: 10_000 }).toBe(401)
  proceed()
  const text = await answer.text()
  expect([text.includes('first '), text.includes('last'), text.includes('"status":"completed"')]).toEqual([
    true,
    true,
    true,
  ])
})

test('a server starts without its issuer, takes keys, and says in its readiness what is missing', async () => {
  const issuer = await openIssuer()
  const token = await issuer.sign()
  await issuer.stop()
  const jwt = { issuer: issuer.url, audience }
  const server = await startServer({ auth: { keys: ['the-key-of-operator'], jwt } })
  onTestFinished(() => server.close())
  const readiness = async () => {
    const { status, json } = await server.call('GET', '/health/ready')
    return [status, json.status, json.checks.issuer]
  }
  expect(await readiness()).toEqual([200, 'ready', 'failed'])
  const as = (text: string) => server.call('GET', `${api}/me`, undefined, { authorization: `Bearer ${text}` })
  expect((await as('the-key-of-operator')).status).toBe(200)
  const refused = await as(token)
  expect([refused.status, refused.json.error.code, Number(refused.headers.get('retry-after')) >= 1]).toEqual([
    503,
    'unavailable',
    true,
  ])
  await issuer.start()
  onTestFinished(() => issuer.stop())
  await expect.poll(async () => (await as(token)).status, { timeout: 10_000 }).toBe(200)
  expect(await readiness()).toEqual([200, 'ready', 'ok'])
})

test('a server stops while its issuer lets it wait', async () => {
  const issuer = await openIssuer()
  onTestFinished(() => issuer.stop())
  let arrived = () => {}
  const asked = new Promise<void>((resolve) => {
    arrived = resolve
  })
  issuer.answers.set(configurationPath, () => arrived())
  const server = await startServer({ auth: { jwt: { issuer: issuer.url, audience } } })
  await asked
  const from = performance.now()
  await server.close()
  expect(performance.now() - from).toBeLessThan(3_000)
})

test('a client that leaves while its token is checked starts nothing', async () => {
  const other = await openIssuer()
  onTestFinished(() => other.stop())
  const asked = Promise.withResolvers<ServerResponse>()
  other.answers.set(configurationPath, (_request, response) => asked.resolve(response))
  const slow = await startServer({ auth: { jwt: { issuer: other.url, audience } } })
  onTestFinished(() => slow.close())
  const left = new AbortController()
  const request = fetch(`${slow.url}${api}/agents/echo/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await other.sign()}`, 'content-type': 'application/json' },
    body: '{"input": "x"}',
    signal: left.signal,
  })
  request.catch(() => {})
  const response = await asked.promise
  await expect.poll(() => slow.server.underWay().request_ids.length).toBe(1)
  left.abort()
  await expect(request).rejects.toThrow()
  other.answers.clear()
  sendJson(response, { issuer: other.url, jwks_uri: other.url + keysPath })
  const ann = { authorization: `Bearer ${await other.sign()}` }
  await expect.poll(async () => (await slow.call('GET', `${api}/me`, undefined, ann)).status).toBe(200)
  expect((await slow.call('GET', `${api}/runs`, undefined, ann)).json.runs).toEqual([])
})

test('OpenAPI and agent cards say how to get in', async () => {
  for (const keys of [[], ['the-key-of-operator']]) {
    const { issuer, as } = await opened({}, { auth: { keys } })
    const boss = as(await issuer.sign({ scope: 'boss' }))
    const openIdConnectUrl = issuer.url + configurationPath
    const names = keys.length === 0 ? ['bearer', 'openId'] : ['bearer', 'apiKey', 'openId']
    const { security, components, paths } = (await boss('GET', '/openapi.json')).json
    expect(security).toEqual(names.map((name) => ({ [name]: [] })))
    expect(Object.keys(components.securitySchemes)).toEqual(names)
    expect(components.securitySchemes.openId).toEqual({ type: 'openIdConnect', openIdConnectUrl })
    expect(paths['/api/v1/backup'].get.security).toEqual(names.map((name) => ({ [name]: ['admin'] })))
    const card = `${api}/a2a/agents/echo/.well-known/agent-card.json`
    const current = (await boss('GET', card, undefined, { 'a2a-version': '1.0' })).json
    expect(current.securitySchemes.openId).toEqual({ openIdConnectSecurityScheme: { openIdConnectUrl } })
    expect(current.securityRequirements).toEqual(names.map((name) => ({ schemes: { [name]: { list: [] } } })))
    const old = (await boss('GET', card, undefined, { 'a2a-version': '0.3' })).json
    expect(old.securitySchemes.openId).toEqual({ type: 'openIdConnect', openIdConnectUrl })
    expect(old.security).toEqual(names.map((name) => ({ [name]: [] })))
  }
})

test('clients find out where tokens come from, for the server and its MCP server', async () => {
  const { issuer, server, as } = await opened({ scopePrefix: 'as:' })
  const { url } = server
  const at = (path: string) => `${url}/.well-known/oauth-protected-resource${path}`
  const ask = (path: string, headers: Record<string, string> = {}) => server.call('POST', path, {}, headers)
  for (const [path, resource] of [
    ['/mcp', '/mcp'],
    [`${api}/agents/echo/run`, ''],
    ['/v1/responses', ''],
    [`${api}/a2a/agents/echo`, ''],
    [`${api}/chat/echo`, ''],
  ] as const) {
    const missing = await ask(path)
    expect([path, missing.status, missing.headers.get('www-authenticate')]).toEqual([
      path,
      401,
      `Bearer resource_metadata="${at(resource)}"`,
    ])
    const wrong = await ask(path, { authorization: 'Bearer a.b.c' })
    expect(wrong.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${at(resource)}"`,
    )
    const { status, json } = await server.call('GET', new URL(at(resource)).pathname)
    expect([status, json]).toEqual([
      200,
      {
        resource: url + resource,
        authorization_servers: [issuer.url],
        bearer_methods_supported: ['header'],
        scopes_supported: ['as:run', 'as:sessions', 'as:knowledge:read'],
        resource_name: 'agentserve',
      },
    ])
  }
  const reader = as(await issuer.sign({ scope: 'as:knowledge:read' }))
  const lacking = await reader('POST', `${api}/agents/echo/run`, { input: 'x' })
  expect([lacking.status, lacking.headers.get('www-authenticate'), lacking.json.error.message]).toEqual([
    403,
    `Bearer error="insufficient_scope", scope="as:run", resource_metadata="${at('')}"`,
    "Your token does not have the scope 'run'. Use a token that has it.",
  ])
  const operators = await reader('POST', `${api}/runs/none/again`, {})
  expect(operators.headers.get('www-authenticate')).toContain('scope="boss"')
})

test('a server that takes keys only has nothing to tell of tokens', async () => {
  const server = await startServer({ auth: { keys: ['the-key-of-operator'] } })
  onTestFinished(() => server.close())
  const missing = await server.call('GET', `${api}/me`)
  expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  const path = '/.well-known/oauth-protected-resource'
  expect((await server.call('GET', path)).status).toBe(401)
  const as = { authorization: 'Bearer the-key-of-operator' }
  expect((await server.call('GET', path, undefined, as)).status).toBe(404)
})

test('a server without keys speaks of tokens alone', async () => {
  const { issuer, server, as } = await opened()
  const words: string[] = [(await server.call('GET', `${api}/me`)).json.error.message]
  let status = 0
  for (let time = 0; time < 30 && status !== 429; time++) {
    const answer = await as(time % 2 === 0 ? 'opaque' : 'a.b.c')('GET', `${api}/me`)
    status = answer.status
    words.push(answer.json.error.message)
  }
  expect(status).toBe(429)
  words.push((await as(await issuer.sign({ scope: 'run' }))('GET', `${api}/sessions`)).json.error.message)
  expect(words.filter((text) => /\bkeys?\b/i.test(text))).toEqual([])
  expect(words[0]).toBe("This server requires a token. Send a valid one as 'Authorization: Bearer …'.")
})

test('the library of tokens is only loaded where they are used', () => {
  const folder = join(import.meta.dirname, '../../src')
  const kinds = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => parseImports(readFileSync(join(folder, file), 'utf8')))
    .filter(({ specifier }) => /^jose(?:\/|$)/.test(specifier))
    .map(({ kind }) => kind)
  expect([kinds.includes('lazy'), kinds.includes('value')]).toEqual([true, false])
})
