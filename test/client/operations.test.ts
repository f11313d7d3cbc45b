import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create.ts'
import type { ClientRequest } from '../../src/client/transport/transport.ts'
import { offlineSummarizer } from '../../src/models/summarizer.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { clientBy, ways } from '../support/client/ways.ts'
import { collect } from '../support/collect.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

/* Every operation of the document, as the server gives it, by the method that the client has for it. */

interface Subjects {
  client: Client
  /** Each makes a new one, without the client. */
  session(): Promise<string>
  run(agentId?: string): Promise<string>
  document(): Promise<string>
  chunk(): Promise<string>
  /** About the user 'ann'. */
  fact(): Promise<string>
}

/** The methods of each operation. A new route is a new line here, and a method of the client. */
const operations: Record<string, ((subjects: Subjects) => Promise<unknown>)[]> = {
  live: [
    async ({ client }) => {
      for await (const event of client.live({ follow: ['run_unknown'], followSessions: ['s'], children: true }))
        return event
      return undefined
    },
  ],
  getMe: [({ client }) => client.me()],
  listSchedules: [({ client }) => client.schedules.list()],
  getSchedule: [({ client }) => client.schedules.get('yearly')],
  runSchedule: [({ client }) => client.schedules.run('yearly')],
  updateSchedule: [({ client }) => client.schedules.pause('yearly'), ({ client }) => client.schedules.resume('yearly')],
  createSession: [({ client }) => client.sessions.create({ name: 'new' })],
  listSessions: [
    ({ client }) => client.sessions.list({ agent_id: 'echo' }, { limit: 2 }),
    ({ client }) => client.sessions.list({ view: 'head', status: 'completed', total: true }, { limit: 2 }),
  ],
  getSession: [
    async ({ client, session }) => client.sessions.get(await session()),
    async ({ client, session }) => client.sessions.getTagged(await session()),
  ],
  updateSession: [async ({ client, session }) => client.sessions.update(await session(), { name: 'other' })],
  deleteSession: [async ({ client, session }) => client.sessions.delete(await session())],
  unshareSession: [
    async ({ client, session }) => {
      const id = await session()
      for (const agent_id of ['other', 'third']) await server.call('POST', `/api/v1/sessions/${id}/reuse`, { agent_id })
      return client.sessions.unshare(id, 'agent', 'other')
    },
  ],
  reuseSession: [async ({ client, session }) => client.sessions.reuse(await session(), { user_id: 'ann' })],
  listSessionRuns: [async ({ client, session }) => client.sessions.runs(await session(), { status: 'completed' })],
  getHistory: [
    async ({ client, session }) => client.sessions.history(await session(), { interactions: 1 }),
    async ({ client, run }) => {
      const before = await run()
      const { session_id } = (await server.call('GET', `/api/v1/runs/${before}`)).json
      return client.sessions.history(session_id, { before })
    },
  ],
  forkSession: [
    async ({ client, session }) => client.sessions.fork(await session()),
    async ({ client, run }) => {
      const before_run_id = await run()
      const { session_id } = (await server.call('GET', `/api/v1/runs/${before_run_id}`)).json
      return client.sessions.fork(session_id, { before_run_id })
    },
  ],
  exportSession: [async ({ client, session }) => collect(await client.sessions.export(await session()))],
  importSession: [
    async ({ client, session }) => {
      const { text } = await server.call('GET', `/api/v1/sessions/${await session()}/export`)
      return client.sessions.import(text, { newIds: true })
    },
  ],
  getFile: [
    async ({ client }) => {
      const data = btoa('content')
      const parts = [{ type: 'file', media_type: 'text/plain', name: 'a.txt', data }]
      const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: { parts } })
      return client.sessions.file(json.session_id, json.messages[0].parts[0].file_id)
    },
  ],
  pruneSessions: [({ client }) => client.sessions.prune({ updated_before: '2000-01-01T00:00:00.000Z' })],
  searchMessages: [({ client }) => client.sessions.search('hello')],
  getSummary: [
    async ({ client, session }) => {
      const id = await session()
      await server.call('POST', `/api/v1/sessions/${id}/summary`)
      return client.sessions.summary.get(id)
    },
  ],
  createSummary: [
    async ({ client, session }) => client.sessions.summary.generate(await session()),
    async ({ client, session }) => client.sessions.summary.schedule(await session()),
  ],
  listRuns: [({ client }) => client.runs.list({ agent_id: 'echo' })],
  getRun: [async ({ client, run }) => client.runs.get(await run())],
  cancelRun: [async ({ client, run }) => client.runs.cancel(await run('waits'), 'enough')],
  restoreRun: [
    async ({ client, session }) => {
      const session_id = await session()
      const say = async (more: object) => {
        const { json } = await server.call('POST', '/api/v1/agents/echo/run', { input: 'hello', session_id, ...more })
        return json.run_id as string
      }
      const replaces = await say({})
      await say({ replaces })
      return client.runs.restore(replaces)
    },
  ],
  repeatRun: [async ({ client, run }) => client.runs.again(await run(), { after: 'live' })],
  keepRun: [
    async ({ client, run }) => {
      const { json } = await server.call('POST', `/api/v1/runs/${await run()}/again`, { after: 'live' })
      const tried: string = json.runs[0].run_id
      await server.call('GET', `/api/v1/runs/${tried}/events`)
      return client.runs.keep(tried, 'fork')
    },
  ],
  resumeRun: [async ({ client, run }) => client.runs.resume(await run('asks'), { approved: true })],
  followRun: [async ({ client, run }) => collect(await client.runs.events(await run(), { after: 1 }))],
  traceRun: [
    async ({ client, run }) => {
      const id = await run('docs')
      const { json } = await server.call('GET', `/api/v1/runs/${id}/trace`)
      return client.runs.trace(id, { call: json.calls[0].call_id })
    },
    async ({ client, run }) => client.runs.trace(await run(), { limit: 5 }),
  ],
  getRunText: [async ({ client, run }) => client.runs.text(await run(), { as: 'curl' })],
  listAgents: [({ client }) => client.agents.list('agent')],
  getAgent: [
    ({ client }) => client.agents.get('echo'),
    ({ client }) => client.agents.get('docs', { include: 'config' }),
  ],
  runAgent: [
    ({ client }) => client.agents.run('echo', { input: 'hello' }),
    ({ client }) => client.agents.background('echo', { input: 'hello' }),
  ],
  streamAgent: [async ({ client }) => collect(await client.agents.stream('echo', { input: 'hello' }))],
  searchKnowledge: [({ client }) => client.knowledge.search('hello', { limit: 1 })],
  getKnowledgeConfig: [({ client }) => client.knowledge.config()],
  getKnowledgeStatus: [({ client }) => client.knowledge.status()],
  ingestContent: [
    ({ client }) => client.knowledge.ingest({ text: 'A text.' }, { source: 'a.txt' }),
    ({ client }) => client.knowledge.ingest({ bytes: new TextEncoder().encode('# A file'), filename: 'a.md' }),
  ],
  ingestMany: [
    ({ client }) => client.knowledge.ingestMany({ documents: [{ source: 'm.txt', content: 'One of many.' }] }),
  ],
  reindexKnowledge: [({ client }) => client.knowledge.reindex()],
  listDocuments: [({ client }) => client.knowledge.documents.list({ source: 'a.txt' }, { limit: 1 })],
  getDocument: [async ({ client, document }) => client.knowledge.documents.get(await document())],
  getChunk: [async ({ client, chunk }) => client.knowledge.chunk(await chunk(), { context: 1 })],
  listChunks: [async ({ client, document }) => client.knowledge.chunks(await document(), { limit: 2 })],
  deleteDocument: [async ({ client, document }) => client.knowledge.documents.delete(await document())],
  getSessionTest: [async ({ client, session }) => client.sessions.test(await session())],
  listProjectTests: [({ client }) => client.tests.list()],
  saveProjectTest: [
    async ({ client, session }) => client.tests.save({ session_id: await session(), name: `saved-${++contents}` }),
  ],
  runProjectTests: [async ({ client }) => collect(await client.tests.run({ names: [] }))],
  listProjectTestRuns: [({ client }) => client.tests.runs()],
  sendMessage: [({ client }) => client.a2a.send({ agentId: 'echo', content: 'hello' })],
  streamMessage: [async ({ client }) => collect(await client.a2a.stream({ agentId: 'echo', content: 'hello' }))],
  exportUser: [async ({ client }) => collect(await client.users.export('nobody'))],
  listFacts: [({ client }) => client.users.facts.list('nobody')],
  deleteFacts: [({ client }) => client.users.facts.deleteAll('nobody')],
  deleteFact: [async ({ client, fact }) => client.users.facts.delete('ann', await fact())],
  eraseUser: [({ client }) => client.users.erase('nobody').then(() => 'erased')],
  listAuditEntries: [({ client }) => client.audit.list({ action: 'session.delete' }, { limit: 2 })],
  getBackup: [async ({ client }) => collect(await client.backup())],
  getHealth: [({ client }) => client.health()],
  getReadiness: [({ client }) => client.readiness()],
  getMetrics: [({ client }) => client.metrics()],
  getHome: [({ client }) => client.home()],
  getOpenApiJson: [({ client }) => client.openApi()],
  getOpenApiYaml: [({ client }) => client.openApiYaml()],
  getDocs: [({ client }) => client.docs()],
  getDocsAsset: [({ client }) => client.docsAsset('page.css')],
}

/** Protocols that have clients of their own. */
const ofOtherClients = ['Official A2A', 'Chat', 'AG-UI', 'OpenAI', 'MCP', 'Studio']

let server: RunningTestServer
let described: Map<string, { method: string; path: RegExp }>

beforeAll(async () => {
  const asks = agent({
    async *run({ resumed }) {
      yield resumed === undefined ? { type: 'input_required', call_id: 'may', prompt: 'May I?' } : 'Thanks.'
    },
  })
  const waits = agent({
    async *run({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const remembering = agent({
    memory: { user: true },
    run: async ({ text, user }) => (await user.remember(text)).fact_id,
  })
  const summaryManager = { summarizer: offlineSummarizer(), timeoutMs: 30_000 }
  server = await startServer(
    { summaryManager, studio: { again: true } },
    { asks, waits, remembering },
    { withTests: true, schedules: { yearly: { cron: '0 0 1 1 *', agent: 'echo', input: 'hello' } } },
  )
  const { json } = await server.call('GET', '/openapi.json')
  const paths = Object.entries(json.paths as Record<string, Record<string, { operationId: string; tags: string[] }>>)
  described = new Map(
    paths.flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId, tags }]) => {
        if (ofOtherClients.some((tag) => tags.includes(tag))) return []
        const pattern = path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')
        return [[operationId, { method: method.toUpperCase(), path: new RegExp(`^${pattern}$`) }] as const]
      }),
    ),
  )
})
afterAll(() => server.close())

let contents = 0
function subjectsOf(client: Client): Subjects {
  const run = async (agentId: string, background: boolean) =>
    (await server.call('POST', `/api/v1/agents/${agentId}/run`, { input: 'hello', background })).json
  const content = { content: `Text ${++contents}.` }
  return {
    client,
    session: async () => (await run('echo', false)).session_id,
    run: async (agentId = 'echo') => (await run(agentId, agentId === 'waits')).run_id,
    document: async () => (await server.call('POST', '/api/v1/knowledge/content', content)).json.document_id,
    fact: async () => {
      await server.call('POST', '/api/v1/agents/remembering/run', { input: 'likes tea', user_id: 'ann' })
      return (await server.call('GET', '/api/v1/users/ann/facts')).json.facts[0].fact_id
    },
    chunk: async () => (await server.call('POST', '/api/v1/knowledge/content', content)).json.chunk_ids[0],
  }
}

test('the client has a method for every operation of the document, and for nothing else', () => {
  expect(Object.keys(operations).sort()).toEqual([...described.keys()].sort())
})

test('every method asks for the operation that it is for, with one request', async () => {
  const requests: ClientRequest[] = []
  const transport = (request: ClientRequest) => {
    requests.push(request)
    return server.server.inject(request)
  }
  const client = createClient({ transport })
  for (const [operationId, methods] of Object.entries(operations)) {
    for (const method of methods) {
      requests.length = 0
      await method(subjectsOf(client))
      const seen = requests.map(({ method, url }) => ({ method, path: url.split('?')[0] }))
      const { method: expected, path } = described.get(operationId) ?? {}
      expect({ operationId, seen }).toEqual({
        operationId,
        seen: [{ method: expected, path: expect.stringMatching(path ?? /^$/) }],
      })
    }
  }
  await client.close()
})

test('every method belongs to an operation', async () => {
  const used = new Set<string>()
  const client = createClient({ transport: (request) => server.server.inject(request) })
  const watched = watch(client, '', used) as Client
  for (const methods of Object.values(operations)) for (const method of methods) await method(subjectsOf(watched))
  expect([...methodsOf(client)].filter((name) => !used.has(name))).toEqual(['close'])
  await client.close()
})

function watch(value: object, place: string, used: Set<string>): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (typeof inner !== 'function') return [name, watch(inner, `${place}${name}.`, used)]
      const call = (...parameters: unknown[]) => {
        used.add(place + name)
        return inner(...parameters)
      }
      return [name, call]
    }),
  )
}

function* methodsOf(value: object, place = ''): Generator<string> {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'function') yield place + name
    else yield* methodsOf(inner, `${place}${name}.`)
  }
}

describe.each(ways)('by %s', (way) => {
  test('every operation succeeds', async () => {
    const client = clientBy(way, server)
    for (const [operationId, methods] of Object.entries(operations)) {
      for (const method of methods) {
        const answer = method(subjectsOf(client)).then(
          (value) => typeof value,
          (error: unknown) => error,
        )
        expect([operationId, await answer]).toEqual([operationId, expect.stringMatching(/^(object|string|undefined)$/)])
      }
    }
    await client.close()
  })
})
