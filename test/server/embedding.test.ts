import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { defineConfig } from '../../src/config/define.ts'
import type { EmittedEvent } from '../../src/core/event.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { HttpRequest } from '../../src/http/request.ts'
import type { Route } from '../../src/http/router.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { createA2A, createServer } from '../../src/server.ts'
import { startServer } from '../support/server.ts'

/* The server, and its A2A interface, as parts of somebody else's program; and what may be exchanged while it serves. */

const api = '/api/v1'
const echo = () =>
  agent({
    sideEffects: false,
    async *run({ text }) {
      yield text
    },
  })

async function listening(server: HttpServer): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

test("serves inside somebody else's node:http program, beside its own routes", async () => {
  const server = createServer({ logger: silentLogger })
  server.registerAgent('echo', echo())
  const url = await listening(
    createHttpServer((request, response) => {
      if (request.url?.startsWith(api) === true) server.handle(request, response)
      else response.end('the program itself')
    }),
  )
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const answer = await post(`${url}${api}/agents/echo/run`, { input: `text ${index}` })
      return ((await answer.json()) as { content: string }).content
    }),
  )
  expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => `text ${index}`))
  expect(await (await fetch(`${url}/own`)).text()).toBe('the program itself')
  const streamed = await post(`${url}${api}/agents/echo/run`, { input: 'streamed', stream: true })
  expect(await streamed.text()).toContain('event: run_end')
  await server.shutdown({ deadline: 0 })
  expect((await fetch(`${url}${api}/agents`)).status).toBe(503)
  expect(await (await fetch(`${url}/own`)).text()).toBe('the program itself')
})

test('serves a whole config: its agents, and what it knows in memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-embedded-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'lamp.md'), '# Lamp\n\nThe lamp burns paraffin.\n')
  const config = defineConfig({
    agents: { echo: echo() },
    knowledge: { sources: [folder] },
    server: { address: '127.0.0.1:0', logger: silentLogger },
  })
  const server = createServer(config)
  const { url } = await server.listen()
  try {
    const answer = await post(`${url}${api}/agents/echo/run`, { input: 'hello' })
    expect(await answer.json()).toMatchObject({ content: 'hello' })
    const search = async () => (await post(`${url}${api}/knowledge/search`, { query: 'lamp' })).json()
    await expect.poll(search).toMatchObject({ results: [{ content: expect.stringContaining('paraffin') }] })
    expect(await (await fetch(`${url}${api}/knowledge/config`)).json()).toMatchObject({ vector_db: { type: 'memory' } })
  } finally {
    await server.close({ deadline: 0 })
  }
  const wrong = { agents: { echo: echo() }, adress: ':0' }
  expect(() => createServer(wrong)).toThrow(/adress/)
})

test('says that a body was read already when a parser of the program comes first', async () => {
  const server = createServer({ logger: silentLogger })
  server.registerAgent('echo', echo())
  const url = await listening(
    createHttpServer(async (request, response) => {
      await readJson(request)
      server.handle(request, response)
    }),
  )
  const whole = { path: 'agents/echo/run', type: 'application/json' }
  const inPieces = { path: 'sessions/import', type: 'application/x-ndjson' }
  for (const { path, type } of [whole, inPieces]) {
    const init = { method: 'POST', headers: { 'content-type': type }, body: '{"input":"a"}' }
    const answer = await fetch(`${url}${api}/${path}`, init)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('Call server.handle before a body parser such as express.json()')
  }
  await server.close({ deadline: 0 })
})

test('drops no request and no stream while routes and documentation are mounted again', async () => {
  const running = await startServer(
    { sessionStorage: 'memory', vectorDb: { type: 'memory' } },
    {
      slow: agent({
        sideEffects: false,
        async *run() {
          for (let index = 0; index < 20; index++) {
            yield `${index} `
            await new Promise((resolve) => setImmediate(resolve))
          }
        },
      }),
    },
  )
  onTestFinished(() => running.close())
  let asking = true
  const statuses = new Map<number, number>()
  const client = async (ask: () => Promise<{ status: number }>) => {
    while (asking) {
      const { status } = await ask()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const streams: string[] = []
  const clients = [
    client(() => running.call('POST', `${api}/agents/slow/run`, { input: 'x' })),
    client(() => running.call('GET', '/openapi.json')),
    client(() => running.call('GET', '/docs')),
    client(async () => {
      const answer = await running.call('POST', `${api}/agents/slow/run`, { input: 'x', stream: true })
      streams.push(answer.text)
      return answer
    }),
  ]
  for (let index = 0; index < 30; index++) {
    running.server.registerAgent(`late-${index}`, echo())
    running.server.resync()
    const { json } = await running.call('POST', `${api}/agents/late-${index}/run`, { input: 'at once' })
    expect(json.content).toBe('at once')
    expect((await running.call('GET', '/openapi.yaml')).text).toContain(`late-${index}`)
  }
  asking = false
  await Promise.all(clients)
  expect([...statuses.keys()]).toEqual([200])
  expect(streams.length).toBeGreaterThan(0)
  for (const stream of streams) expect(stream).toContain('event: run_end')
})

test('prices of createServer are those of a config', async () => {
  const server = createServer({
    logger: silentLogger,
    prices: { 'own/model': { input: 2, output: 3 }, 'own/free': 'local' },
  })
  onTestFinished(() => server.shutdown({ deadline: 0 }))
  const calling = (model: string) =>
    agent({
      async *run(): AsyncGenerator<EmittedEvent> {
        const usage = { input_tokens: 500_000, output_tokens: 1_000_000, total_tokens: 1_500_000 }
        yield { type: 'model_call_start', call_id: 'c', model }
        yield { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 }
      },
    })
  server.registerAgent('own', calling('own/model'))
  server.registerAgent('free', calling('own/free'))
  const ask = async (id: string) => {
    const answer = await server.inject({
      method: 'POST',
      url: `/api/v1/agents/${id}/run`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'x' }),
    })
    return JSON.parse(await answer.text())
  }
  expect((await ask('own')).cost).toEqual({ usd: 4, as_of: null })
  expect((await ask('free')).cost).toEqual({ usd: 0, as_of: null, local: true })
  expect(() => createServer({ prices: { model: 'local' } })).toThrow('prices.model must be named as in the record')
  expect(() => createServer({ price: {} } as never)).toThrow('server.price is not a setting')
  expect(() => createServer(5 as never)).toThrow('server must be')
})

test('a health router puts handlers where it is told to, and ours stays where it was', async () => {
  const server = createServer({ logger: silentLogger, auth: { keys: ['secret'] } })
  onTestFinished(() => server.shutdown({ deadline: 0 }))
  const text = (of: string) => ({ status: 200, body: { kind: 'text', text: of, mediaType: 'text/plain' } }) as const
  server.healthRouter('/live').route({ handler: () => text('mine') })
  server.healthRouter('/live').route({ method: 'POST', handler: () => text('posted') })
  const ask = async (url: string, method = 'GET') => (await server.inject({ url, method })).text()
  expect([await ask('/live'), await ask('/live', 'POST')]).toEqual(['mine', 'posted'])
  expect(JSON.parse(await ask('/health'))).toMatchObject({ status: 'ok' })
  server.resync()
  expect(await ask('/live')).toBe('mine')
  server.healthRouter().route({ handler: () => text('replaced') })
  expect(await ask('/health')).toBe('replaced')
})

/** As little as somebody's own router needs to know of a request. */
function asRequest(incoming: IncomingMessage): HttpRequest {
  const body = readJson(incoming)
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    params: {},
    query: new URLSearchParams(),
    headers: incoming.headers,
    scopes: undefined,
    body: {
      mediaType: 'application/json',
      present: true,
      bytes: async () => Buffer.from(JSON.stringify(await body)),
      text: async () => JSON.stringify(await body),
      json: () => body,
      multipart: async () => [],
      async *lines() {
        yield JSON.stringify(await body)
      },
    },
    requestId: 'req_own',
    caller: 'anonymous',
    userId: undefined,
    signal: new AbortController().signal,
    deadline: new AbortController().signal,
    remoteAddress: incoming.socket.remoteAddress,
  }
}

test("sets up its A2A routes on somebody else's router, under a prefix of its own", async () => {
  const a2a = createA2A({ prefix: '/talk' })
  a2a.registerEntity('echo', echo())
  expect([a2a.listEntities(), a2a.getEntity('echo').exists, a2a.getEntity('none').exists]).toEqual([
    ['echo'],
    true,
    false,
  ])
  const routes = new Map<string, Route>()
  a2a.setupRoutes({ route: (route) => void routes.set(`${route.method} ${route.path}`, route) })
  expect([...routes.keys()].sort()).toEqual(['POST /talk/sendMessage', 'POST /talk/streamMessage'])
  const url = await listening(
    createHttpServer(async (request, response) => {
      const route = routes.get(`${request.method} ${request.url}`)
      const reply = await route?.handler(asRequest(request))
      response.writeHead(reply?.status ?? 404)
      if (reply?.body?.kind === 'json') response.write(JSON.stringify(reply.body.value))
      else if (reply?.body?.kind === 'sse') for await (const frames of reply.body.frames) response.write(frames)
      response.end()
    }),
  )
  const ask = (method: string, agentId: string, text: string) =>
    post(`${url}/talk/${method}`, {
      jsonrpc: '2.0',
      id: text,
      method,
      params: { message: { messageId: text, role: 'user', agentId, parts: [{ type: 'text', content: text }] } },
    })
  const sent = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => (await ask('sendMessage', 'echo', `m${index}`)).json()),
  )
  for (const [index, answer] of sent.entries()) {
    expect(answer).toMatchObject({ id: `m${index}`, result: { task: { status: 'completed' } } })
    expect(JSON.stringify(answer)).toContain(`"content":"m${index}"`)
  }
  expect(await (await ask('streamMessage', 'echo', 'flows')).text()).toBe(
    'data: {"type":"content","content":"flows"}\n\ndata: {"type":"done"}\n\n',
  )
  expect(await (await ask('sendMessage', 'none', 'x')).json()).toMatchObject({ error: { code: -32602 } })
})
