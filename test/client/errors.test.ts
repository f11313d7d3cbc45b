import { afterEach, expect, test } from 'vitest'
import { apiRoutes } from '../../src/api/routes.ts'
import type { Client, ClientOptions } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create.ts'
import { ServerError } from '../../src/client/transport/error.ts'
import type { ServerConfig } from '../../src/config/types.ts'
import { AppError, type ErrorCode } from '../../src/core/error.ts'
import { statusOf } from '../../src/http/error.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { memoryStore } from '../../src/store/sessions/memory/store.ts'
import { openTestServer } from '../api/server.ts'
import { createKernel } from '../support/kernel.ts'
import { startServer } from '../support/server.ts'

/* Every error that the server can give, from the server itself, as it arrives over a socket. */

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function connect(url: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url, retries: 0, ...options })
  closers.push(() => client.close())
  return client
}

async function open(config: ServerConfig = {}, options: Partial<ClientOptions> = {}): Promise<Client> {
  const fails = agent({
    // biome-ignore lint/correctness/useYield: it fails before it says anything
    async *run() {
      throw new Error('no luck')
    },
  })
  const waits = agent({
    async *run({ signal }) {
      yield 'begun'
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const server = await startServer(config, { fails, waits })
  closers.push(() => server.close())
  return connect(server.url, options)
}

/** A call that was given another body or header on its way. */
function sending(change: RequestInit): Partial<ClientOptions> {
  return { fetch: (url, init) => globalThis.fetch(url, { ...init, ...change }) }
}

/** A store that fails where a session is looked up. */
function failing(error: Error): ServerConfig {
  const store = memoryStore()
  return { sessionStorage: { ...store, findSession: () => Promise.reject(error) } }
}

async function runOf(client: Client, sessionId: string): Promise<string> {
  const running = async () => (await client.sessions.runs(sessionId, { status: 'running' })).runs[0]?.run_id
  await expect.poll(running).toBeDefined()
  return (await running()) ?? ''
}

interface Provoked {
  /** Rejects with the error. */
  by: () => Promise<unknown>
  /** What there is beyond code, status and request id. */
  with?: object
}

// The server must die for `run_interrupted`, which restarts.test.ts sees to.
const provoked: Record<Exclude<ErrorCode, 'run_interrupted' | 'run_limit'>, Provoked> = {
  invalid_request: {
    by: async () => (await open()).agents.run('echo', { input: { parts: [] } }),
    with: { details: [{ path: 'input.parts', message: expect.any(String) }] },
  },
  unauthorized: { by: async () => (await open({ auth: { keys: ['secret'] } }, { apiKey: 'wrong' })).agents.list() },
  forbidden: {
    by: async () => (await open({}, { headers: { Origin: 'https://elsewhere.example' } })).sessions.create(),
  },
  route_not_found: { by: async () => (await open({}, { prefix: '/nowhere' })).agents.list() },
  session_not_found: { by: async () => (await open()).sessions.get('none') },
  run_not_found: { by: async () => (await open()).runs.get('none') },
  agent_not_found: { by: async () => (await open()).agents.get('none') },
  summary_not_found: {
    by: async () => {
      const client = await open()
      return client.sessions.summary.get((await client.sessions.create()).session_id)
    },
  },
  document_not_found: { by: async () => (await open()).knowledge.documents.get('none') },
  chunk_not_found: { by: async () => (await open()).knowledge.chunk('none') },
  file_not_found: {
    by: async () => (await open(failing(new AppError('file_not_found', 'There is no such file.')))).sessions.get('any'),
  },
  collection_not_found: { by: async () => (await open()).knowledge.search('x', { collection: 'none' }) },
  owner_not_found: {
    by: async () => {
      const client = await open()
      return client.sessions.unshare((await client.sessions.create()).session_id, 'user', 'nobody')
    },
  },
  fact_not_found: { by: async () => (await open()).users.facts.delete('ann', 'none') },
  call_not_found: {
    by: async () => {
      const client = await open()
      const { run_id } = await client.agents.run('echo', { input: 'x' })
      return client.runs.trace(run_id, { call: 'none' })
    },
  },
  schedule_not_found: { by: async () => (await open()).schedules.get('none') },
  method_not_allowed: {
    by: async () => (await open({}, { healthPath: '/api/v1/knowledge/search' })).health(),
    with: { allow: expect.arrayContaining(['POST']) },
  },
  request_timeout: {
    by: async () => {
      const inner = await openTestServer()
      const kernel = createKernel({ requestTimeoutMs: 30_000, bodyTimeoutMs: 50 })
      kernel.setRoutes(apiRoutes(inner.services, inner.settings))
      closers.push(
        () => inner.close(),
        () => kernel.close({ deadlineMs: 0 }),
      )
      const { url } = await kernel.listen({ host: '127.0.0.1', port: 0 })
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) })
      return connect(url, sending({ body, duplex: 'half' } as RequestInit)).sessions.create()
    },
  },
  conflict: {
    by: async () => {
      const client = await open()
      await client.sessions.create({ session_id: 'taken' })
      return client.sessions.create({ session_id: 'taken' })
    },
  },
  run_cancelled: {
    by: async () => {
      const client = await open()
      const { session_id } = await client.sessions.create({ session_id: 'shared' })
      const pending = client.agents.run('waits', { input: 'x', session_id })
      await Promise.all([client.runs.cancel(await runOf(client, session_id)), pending])
    },
    with: { runId: expect.stringMatching(/^run_/), sessionId: 'shared' },
  },
  precondition_failed: {
    by: async () => {
      const client = await open()
      const { session_id } = await client.sessions.create()
      return client.sessions.update(session_id, { name: 'x' }, { ifMatch: '"older"' })
    },
  },
  payload_too_large: {
    by: async () =>
      (await open({ maxRequestSize: '1KB' })).sessions.create({ name: 'x'.repeat(900), state: { x: 'x'.repeat(900) } }),
  },
  unsupported_media_type: {
    by: async () => (await open({}, sending({ headers: { 'content-type': 'text/html' } }))).sessions.create(),
  },
  misdirected_request: { by: async () => (await open({}, { headers: { host: 'elsewhere.example' } })).agents.list() },
  idempotency_mismatch: {
    by: async () => {
      const client = await open()
      const options = { idempotencyKey: 'one' }
      await client.agents.run('echo', { input: 'x' }, options)
      return client.agents.run('echo', { input: 'y' }, options)
    },
  },
  unreadable_document: {
    by: async () => (await open()).knowledge.ingest({ bytes: Buffer.from('%PDF-1.4 and nothing'), filename: 'a.pdf' }),
  },
  rate_limited: {
    by: async () => {
      const client = await open({ limits: { requestsPerMinute: 1 } })
      await client.agents.list()
      return client.agents.list()
    },
    with: { retryAfterSeconds: expect.closeTo(60, -1) },
  },
  headers_too_large: { by: async () => (await open({}, { headers: { 'x-long': 'x'.repeat(40_000) } })).agents.list() },
  internal: { by: async () => (await open(failing(new Error('a secret of the database')))).sessions.get('any') },
  run_failed: {
    by: async () => (await open()).agents.run('fails', { input: 'x' }),
    with: { runId: expect.stringMatching(/^run_/), sessionId: expect.stringMatching(/^ses_/) },
  },
  summary_failed: {
    by: async () => {
      const summarizer = { name: 'failing', summarize: () => Promise.reject(new Error('no luck')) }
      const client = await open({ summaryManager: { summarizer, timeoutMs: 1000 } })
      const { session_id } = await client.agents.run('echo', { input: 'x' })
      return client.sessions.summary.generate(session_id)
    },
  },
  summary_not_configured: {
    by: async () => {
      const client = await open()
      return client.sessions.summary.generate((await client.sessions.create()).session_id)
    },
  },
  unavailable: {
    by: async () => {
      const client = await open({ limits: { requests: 1 } })
      const leaving = new AbortController()
      const { session_id } = await client.sessions.create()
      const pending = client.agents.run('waits', { input: 'x', session_id }, { signal: leaving.signal })
      // The only place is taken from the moment in which the run is there.
      const refused = async () =>
        client.agents.list().then(
          () => undefined,
          (error: unknown) => error,
        )
      await expect.poll(refused).toBeDefined()
      const error = await refused()
      leaving.abort()
      await pending.catch(() => {})
      throw error
    },
    with: { retryAfterSeconds: 1 },
  },
  timeout: {
    by: async () => (await open({ requestTimeout: 50 })).agents.run('waits', { input: 'x' }),
    with: { runId: expect.stringMatching(/^run_/) },
  },
  storage_full: {
    by: async () => (await open(failing(new AppError('storage_full', 'The disk is full.')))).sessions.get('any'),
  },
}

test.each(Object.entries(provoked))('%s arrives as what it is', async (code, { by, with: more = {} }) => {
  const error: unknown = await by().catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(ServerError)
  expect(error).toMatchObject({
    name: 'AppError',
    code,
    status: statusOf[code as ErrorCode],
    requestId: expect.stringMatching(/^req_/),
    message: expect.not.stringContaining('secret'),
    ...more,
  })
})

test('the request id of the caller is the one of the error', async () => {
  const client = await open({}, { headers: { 'X-Request-Id': 'mine-1' } })
  await expect(client.runs.get('none')).rejects.toMatchObject({ requestId: 'mine-1' })
})

test('errors of A2A have a status, a request id and the nearest code', async () => {
  const client = await open()
  await expect(client.a2a.send({ agentId: 'none', content: 'x' })).rejects.toMatchObject({
    code: 'agent_not_found',
    status: 200,
    requestId: expect.stringMatching(/^req_/),
  })
  await expect(client.a2a.stream({ agentId: 'echo', content: [] })).rejects.toMatchObject({
    code: 'invalid_request',
    status: 200,
  })
  const locked = await open({ auth: { keys: ['secret'] } })
  await expect(locked.a2a.send({ agentId: 'echo', content: 'x' })).rejects.toMatchObject({
    code: 'unauthorized',
    status: 401,
  })
  const full = await open({
    sessionStorage: { ...memoryStore(), startRun: () => Promise.reject(new AppError('unavailable', 'Busy.')) },
  })
  await expect(full.a2a.stream({ agentId: 'echo', content: 'x' })).rejects.toMatchObject({
    code: 'unavailable',
    status: 200,
    retryAfterSeconds: 1,
  })
  expect(await full.a2a.send({ agentId: 'echo', content: 'x' }).catch((error: AppError) => error.code)).toBe(
    'unavailable',
  )
})
