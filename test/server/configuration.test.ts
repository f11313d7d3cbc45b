import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ServerConfig } from '../../src/config/types.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { offlineSummarizer } from '../../src/models/summarizer.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { createServer } from '../../src/server.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { openDoor } from '../support/postgres/tls-proxy.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

/* Each field of the server's configuration: set, and seen to make the difference that docs/configuration.md says. */

const api = '/api/v1'
const app = 'https://app.example'

async function started(config: ServerConfig, entities: Record<string, object> = {}): Promise<RunningTestServer> {
  const server = await startServer({ sessionStorage: 'memory', vectorDb: { type: 'memory' }, ...config }, entities)
  onTestFinished(() => server.close())
  return server
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'agentserve-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

function recorder(): { logger: Logger; lines: string[] } {
  const lines: string[] = []
  const write = (...given: unknown[]) => void lines.push(JSON.stringify(given))
  return { lines, logger: { debug: write, info: write, warn: write, error: write } }
}

const waiting = agent({
  async *run({ signal }) {
    yield 'begun'
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  },
})
const preflight = { origin: app, 'access-control-request-method': 'POST' }
const search = (server: RunningTestServer, query: string) =>
  server.call('POST', `${api}/knowledge/search`, { query }).then(({ json }) => json.count)
const ingest = (server: RunningTestServer, content: string) =>
  server.call('POST', `${api}/knowledge/content`, { content })

/** The compiler asks for every field. */
const fields: Record<keyof ServerConfig, () => Promise<void>> = {
  async address() {
    const { url } = await started({ address: '[::1]:0' })
    expect(new URL(url).hostname).toBe('[::1]')
  },
  async prefix() {
    const server = await started({ prefix: '/service/' })
    expect((await server.call('GET', '/service/agents')).status).toBe(200)
    expect((await server.call('GET', `${api}/agents`)).status).toBe(404)
  },
  async sessionStorage() {
    const data = await folder()
    const path = join(data, 'sessions.db')
    const sqlite = await started({ sessionStorage: { type: 'sqlite', path, synchronous: 'NORMAL' } })
    await sqlite.call('POST', `${api}/sessions`, { session_id: 'kept' })
    expect(await readdir(data)).toContain('sessions.db')
    const inner = memoryStore()
    const own = await started({ sessionStorage: inner })
    await own.call('POST', `${api}/sessions`, { session_id: 'mine' })
    expect((await inner.findSession('mine'))?.session.session_id).toBe('mine')
  },
  async storage() {
    const door = await openDoor((socket) => socket.once('data', () => socket.end('N')))
    onTestFinished(() => door.close())
    const url = `postgres://127.0.0.1:${door.port}/agents`
    const server = createServer({ storage: { type: 'postgres', url, tls: true }, logger: silentLogger })
    await expect(server.start()).rejects.toThrow(`127.0.0.1:${door.port}/agents, schema agentserve offers no TLS`)
  },
  async logger() {
    const { logger, lines } = recorder()
    const server = await started({ logger })
    await server.call('GET', '/health', undefined, { 'x-request-id': 'seen-in-the-log' })
    await expect.poll(() => lines.join('\n')).toContain('seen-in-the-log')
  },
  async debug() {
    const fail = () => Promise.reject(new TypeError('it broke'))
    for (const debug of [false, true]) {
      const { logger, lines } = recorder()
      const server = await started({ logger, debug, sessionStorage: { ...memoryStore(), listSessions: fail } })
      const answer = await server.call('GET', `${api}/sessions`)
      expect([answer.json.error.code, answer.text.includes('it broke')]).toEqual(['internal', false])
      expect(lines.filter((line) => line.includes('it broke')).some((line) => line.includes('"stack"'))).toBe(debug)
    }
  },
  async allowOrigins() {
    const server = await started({ allowOrigins: [app] })
    const post = (origin: string) => server.call('POST', `${api}/sessions`, {}, { origin })
    const allowed = await post(app)
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([201, app])
    expect((await post('https://other.example')).status).toBe(403)
    const closed = await started({})
    expect((await closed.call('POST', `${api}/sessions`, {}, { origin: app })).status).toBe(403)
  },
  async trustProxy() {
    const ask = async (config: ServerConfig, from: string[]) => {
      const server = await started({ limits: { requestsPerMinute: 1 }, ...config })
      const call = (address: string) => server.call('GET', `${api}/agents`, undefined, { 'x-forwarded-for': address })
      const statuses: number[] = []
      for (const address of from) statuses.push((await call(address)).status)
      return statuses
    }
    expect(await ask({ trustProxy: 'loopback' }, ['192.0.2.1', '192.0.2.2', '192.0.2.2'])).toEqual([200, 200, 429])
    expect(await ask({}, ['192.0.2.1', '192.0.2.2'])).toEqual([200, 429])
  },
  async allowMethods() {
    const answer = async (config: ServerConfig) =>
      (
        await (
          await started({ allowOrigins: [app], ...config })
        ).call('OPTIONS', `${api}/sessions`, undefined, preflight)
      ).headers.get('access-control-allow-methods')
    expect(await answer({ allowMethods: ['PUT'] })).toBe('PUT')
    expect(await answer({})).toContain('POST')
  },
  async allowHeaders() {
    const answer = async (config: ServerConfig) =>
      (
        await (
          await started({ allowOrigins: [app], ...config })
        ).call('OPTIONS', `${api}/sessions`, undefined, preflight)
      ).headers.get('access-control-allow-headers')
    expect(await answer({ allowHeaders: ['X-Own'] })).toBe('X-Own')
    expect(await answer({})).toContain('Idempotency-Key')
  },
  async openai() {
    const statuses = async (config: ServerConfig) => {
      const server = await started(config)
      return Promise.all(['/v1/models', '/other/models'].map(async (path) => (await server.call('GET', path)).status))
    }
    expect(await statuses({})).toEqual([200, 404])
    expect(await statuses({ openai: { prefix: '/other' } })).toEqual([404, 200])
    expect(await statuses({ openai: false })).toEqual([404, 404])
  },
  async mcp() {
    const create = (config: ServerConfig) => () => createServer({ ...config, logger: silentLogger })
    expect(create({ mcp: { path: '/v1' } })).toThrow(/server\.mcp\.path is '\/v1', and that is server\.openai\.prefix/)
    expect(create({ mcp: { path: '/v1' }, openai: false })).not.toThrow()
  },
  async agUi() {
    const body = { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'hello' }] }
    const ask = async (config: ServerConfig) => {
      const server = await started(config)
      const { status } = await server.call('POST', `${api}/ag-ui/echo`, body)
      return [status, (await server.call('GET', '/openapi.json')).text.includes('/ag-ui/{agent}')]
    }
    expect([await ask({}), await ask({ agUi: false })]).toEqual([
      [200, true],
      [404, false],
    ])
  },
  async chat() {
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }
    const ask = async (config: ServerConfig) => {
      const server = await started(config)
      const { status } = await server.call('POST', `${api}/chat/echo`, { id: 'c', messages: [message] })
      return [status, (await server.call('GET', '/openapi.json')).text.includes('/chat/{agent}')]
    }
    expect([await ask({}), await ask({ chat: false })]).toEqual([
      [200, true],
      [404, false],
    ])
  },
  async allowHosts() {
    const ask = async (config: ServerConfig) => {
      const server = await started(config)
      return (await server.server.inject({ url: `${api}/agents`, headers: { host: 'agents.example' } })).status
    }
    expect([await ask({ allowHosts: ['agents.example'] }), await ask({})]).toEqual([200, 421])
  },
  async requestTimeout() {
    const server = await started({ requestTimeout: '50ms' }, { waiting })
    const late = await server.call('POST', `${api}/agents/waiting/run`, { input: 'x' })
    expect([late.status, late.json.error.code]).toEqual([504, 'timeout'])
    const run = await server.call('GET', `${api}/runs/${late.json.error.run_id}`)
    expect(run.json).toMatchObject({ status: 'cancelled', cancellation_reason: 'timeout' })
  },
  async stopWithin() {
    const server = await started({ stopWithin: '50ms' }, { waiting })
    const asked = server.call('POST', `${api}/agents/waiting/run`, { input: 'x' })
    await vi.waitFor(async () =>
      expect((await server.call('GET', `${api}/runs?status=running`)).text).toContain('run_'),
    )
    const begunMs = performance.now()
    await server.server.close()
    expect(performance.now() - begunMs).toBeLessThan(9_000)
    expect((await asked).text).toContain('shutdown')
  },
  async maxRequestSize() {
    const server = await started({ maxRequestSize: '1KB' })
    const large = JSON.stringify({ input: 'x'.repeat(2_000) })
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(large))
        controller.close()
      },
    })
    const headers = { 'content-type': 'application/json' }
    const target = `${server.url}${api}/agents/echo/run`
    const init = { method: 'POST', headers, body: chunked, duplex: 'half' } as RequestInit
    expect((await fetch(target, init)).status).toBe(413)
    expect((await fetch(target, { method: 'POST', headers, body: large })).status).toBe(413)
    expect((await server.call('POST', `${api}/agents/echo/run`, { input: 'x' })).status).toBe(200)
  },
  async healthPath() {
    const server = await started({ healthPath: '/alive' })
    const status = async (path: string) => (await server.call('GET', path)).status
    expect([await status('/alive'), await status('/alive/ready'), await status('/health')]).toEqual([200, 200, 404])
  },
  async vectorDb() {
    const without = createServer({ logger: silentLogger })
    onTestFinished(() => without.shutdown({ deadline: 0 }))
    expect((await without.inject({ url: `${api}/knowledge/config` })).status).toBe(404)
    const baseUrl = join(await folder(), 'vectors')
    const of = (more: object) => started({ vectorDb: { type: 'lancedb', baseUrl, ...more } })
    const one = await of({ database: 'one', tenant: 'a', collectionName: 'notes' })
    const { json } = await one.call('GET', `${api}/knowledge/config`)
    expect([json.vector_db.type, json.collection]).toEqual(['lancedb', 'notes'])
    await ingest(one, 'The heron stands still.')
    expect(await search(one, 'heron')).toBe(1)
    await one.server.shutdown({ deadline: 0 })
    for (const other of [
      { database: 'two', tenant: 'a', collectionName: 'notes' },
      { database: 'one', tenant: 'b', collectionName: 'notes' },
      { database: 'one', tenant: 'a', collectionName: 'others' },
    ]) {
      const server = await of(other)
      expect(await search(server, 'heron')).toBe(0)
      await server.server.shutdown({ deadline: 0 })
    }
    expect(await search(await of({ database: 'one', tenant: 'a', collectionName: 'notes' }), 'heron')).toBe(1)
  },
  async embedding() {
    const server = await started({
      embedding: { provider: 'openai', model: 'own-model', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'never-shown' },
    })
    const { json, text } = await server.call('GET', `${api}/knowledge/config`)
    expect(json.embedding_model).toMatchObject({ provider: 'openai', model: 'own-model' })
    expect(text).not.toContain('never-shown')
    const lexical = await started({ embedding: { provider: 'lexical' } })
    expect((await lexical.call('GET', `${api}/knowledge/config`)).json.embedding_model.provider).toBe('lexical')
  },
  async knowledgeApi() {
    const asked = {
      search: ['POST', 'search', { query: 'x' }],
      config: ['GET', 'config'],
      content: ['POST', 'content', { content: 'x' }],
      documents: ['GET', 'status'],
    } as const
    for (const off of Object.keys(asked) as (keyof typeof asked)[]) {
      const server = await started({ knowledgeApi: { [off]: false } })
      const { paths } = (await server.call('GET', '/openapi.json')).json
      for (const [name, [method, path, body]] of Object.entries(asked)) {
        const { status, json } = await server.call(method, `${api}/knowledge/${path}`, body)
        expect([name, json?.error?.code]).toEqual([name, name === off ? 'route_not_found' : undefined])
        expect([name, status === 404, paths[`${api}/knowledge/${path}`] === undefined]).toEqual([
          name,
          name === off,
          name === off,
        ])
      }
    }
  },
  async summaryManager() {
    const summarize = async (config: ServerConfig) => {
      const server = await started(config)
      const { session_id } = (await server.call('POST', `${api}/agents/echo/run`, { input: 'a word' })).json
      return server.call('POST', `${api}/sessions/${session_id}/summary`)
    }
    const manager = { summarizer: offlineSummarizer(), timeoutMs: 5000 }
    expect((await summarize({ summaryManager: manager })).status).toBe(200)
    expect((await summarize({})).json.error.code).toBe('summary_not_configured')
  },
  async a2a() {
    const server = await started({ a2a: { prefix: '/talk' } })
    const message = { messageId: 'm', role: 'user', agentId: 'echo', parts: [{ type: 'text', content: 'hello' }] }
    const rpc = { jsonrpc: '2.0', id: '1', method: 'sendMessage', params: { message } }
    expect((await server.call('POST', '/talk/sendMessage', rpc)).json.result.task.status).toBe('completed')
    expect((await server.call('POST', `${api}/a2a/sendMessage`, rpc)).status).toBe(404)
  },
  async auth() {
    const server = await started({ auth: { keys: ['right', { key: 'of-ann', userId: 'ann' }] } })
    const ask = (key: string) => server.call('POST', `${api}/sessions`, {}, key === '' ? {} : { 'x-api-key': key })
    expect([(await ask('')).status, (await ask('wrong')).status, (await ask('right')).status]).toEqual([401, 401, 201])
    expect((await ask('of-ann')).json.user_id).toBe('ann')
  },
  async clientInstructions() {
    const own = agent({ run: ({ instructions = 'none' }) => instructions })
    const ask = async (server: RunningTestServer) =>
      (await server.call('POST', `${api}/agents/own/run`, { input: 'x', instructions: 'Be kind.' })).json.content
    expect(await ask(await started({}, { own }))).toBe('Be kind.')
    expect(await ask(await started({ clientInstructions: 'ignore' }, { own }))).toBe('none')
  },
  async studio() {
    const again = async (config: ServerConfig) =>
      (await (await started(config)).call('GET', `${api}/me`)).json.can.again
    expect([await again({}), await again({ studio: { again: true } })]).toEqual([false, true])
  },
  async limits() {
    const minute = await started({ limits: { requestsPerMinute: 1 } })
    const list = () => minute.call('GET', `${api}/agents`)
    expect([(await list()).status, (await list()).status]).toEqual([200, 429])
    const runs = await started({ limits: { concurrentRuns: 1 } }, { waiting })
    const run = () => runs.call('POST', `${api}/agents/waiting/run`, { input: 'x', background: true })
    expect([(await run()).status, (await run()).status]).toEqual([202, 429])
    runs.server.resync()
    expect((await run()).status, 'after the routes are mounted again').toBe(429)
    const atOnce = await started({ limits: { requests: 1 } }, { waiting })
    const first = atOnce.call('POST', `${api}/agents/waiting/run`, { input: 'x' }).catch(() => {})
    await expect.poll(async () => (await atOnce.call('GET', `${api}/agents`)).status).toBe(503)
    await atOnce.server.shutdown({ deadline: 0 })
    await first
    const connections = await started({ limits: { connections: 1 } })
    const { connect } = await import('node:net')
    const { port } = new URL(connections.url)
    const held = connect(Number(port), '127.0.0.1')
    await new Promise((resolve) => held.once('connect', resolve))
    const refused = connect(Number(port), '127.0.0.1')
    await new Promise((resolve) => refused.on('error', () => {}).once('close', resolve))
    held.destroy()
  },
  async allowUnauthenticated() {
    const warned = async (config: ServerConfig) => {
      const { logger, lines } = recorder()
      await started({ address: '0.0.0.0:0', logger, ...config })
      return lines.some((line) => line.includes('auth'))
    }
    expect([await warned({}), await warned({ allowUnauthenticated: true })]).toEqual([true, false])
  },
  async files() {
    const model = scriptedModel('Seen.')
    const input = { parts: [{ type: 'file', media_type: 'image/png', url: 'http://127.0.0.1/a.png' }] }
    const earlier = { input: 'x', history: [{ role: 'user', ...input }] }
    const said = async (config: ServerConfig, body: object = { input }) => {
      const server = await started(config, { helper: agent({ model }) })
      const { status, json } = await server.call('POST', `${api}/agents/helper/run`, body)
      return [status, json.error.message]
    }
    expect(await said({})).toEqual([500, expect.stringContaining('is not an address on the public internet')])
    expect(await said({ files: { fetchUrls: false } })).toEqual([
      400,
      expect.stringContaining('`server.files.fetchUrls` is off'),
    ])
    expect(await said({ files: { fetchUrls: false } }, earlier)).toEqual([
      400,
      expect.stringContaining('`server.files.fetchUrls` is off'),
    ])
  },
  async telemetry() {
    const exporter = new InMemorySpanExporter()
    const told: string[] = []
    const keep = exporter.export.bind(exporter)
    exporter.export = (spans, done) => {
      told.push(...spans.map(({ name }) => name))
      keep(spans, done)
    }
    const server = await started({ telemetry: { exporter } })
    await server.call('POST', `${api}/agents/echo/run`, { input: 'hi' })
    await server.server.shutdown({ deadline: 0 })
    expect(told).toEqual(['invoke_agent echo'])
  },
  async audit() {
    const entries = async (audit: ServerConfig['audit']) => {
      const server = await started(audit === undefined ? {} : { audit })
      await server.call('POST', `${api}/sessions`, { session_id: 'a' })
      await server.call('DELETE', `${api}/sessions/a`)
      const { status, json } = await server.call('GET', `${api}/audit`)
      return status === 200 ? (json as { entries: { action: string }[] }).entries.map(({ action }) => action) : status
    }
    expect(await entries(undefined)).toEqual(['session.delete'])
    expect(await entries({ keep: '90d' })).toEqual(['session.delete'])
    expect(await entries(false)).toBe(404)
  },
  async retention() {
    const path = join(await folder(), 'sessions.db')
    const storage = { type: 'sqlite', path } as const
    const first = await started({ sessionStorage: storage })
    for (const id of ['a', 'b', 'c']) await first.call('POST', `${api}/sessions`, { session_id: id })
    await first.server.shutdown({ deadline: 0 })
    const server = await started({ sessionStorage: storage, retention: { maxSessions: 2 } })
    const ids = async () => {
      const { sessions } = (await server.call('GET', `${api}/sessions`)).json as { sessions: { session_id: string }[] }
      return sessions.map(({ session_id }) => session_id)
    }
    await expect.poll(ids).toEqual(['c', 'b'])
  },
}

for (const [name, check] of Object.entries(fields)) test(`'${name}' makes its difference`, check)

test("refuses '*' as origin without keys, and says what to do", async () => {
  const server = { allowOrigins: ['*'], logger: silentLogger }
  expect(() => createServer(server)).toThrow(/allowOrigins.*auth/)
  const withKeys = await started({ allowOrigins: ['*'], auth: { keys: ['a-key-that-is-long-enough'] } })
  const post = (key: Record<string, string>) =>
    withKeys.call('POST', `${api}/sessions`, {}, { origin: app, 'sec-fetch-site': 'cross-site', ...key })
  expect([(await post({})).status, (await post({ 'x-api-key': 'a-key-that-is-long-enough' })).status]).toEqual([
    403, 201,
  ])
})
