import { silentLogger } from '../../src/core/logger.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { startServer } from '../support/server.ts'

/** As the hostile page gets it; `WAY` in the body becomes the way that it goes, `WAY-NAME` that as a file's name. */
export interface Operation {
  id: string
  method: string
  path: string
  body: string
  /** What the body has to be declared as. */
  type: string
}

/** Writes at once, so that a summary asked for can be seen. */
const summarizer = { name: 'counter', summarize: async (messages: readonly unknown[]) => `${messages.length} messages` }

/** What stands in a document and a session, and nowhere else. */
export const secret = 'the-harbour-opens-at-dawn'

/** Bodies that each state-changing operation takes, by operation id. */
const bodies: Record<string, unknown> = {
  createSession: { name: 'intruder WAY' },
  updateSession: { name: 'renamed by WAY' },
  deleteSession: { ignored: 'WAY' },
  reuseSession: { user_id: 'intruder' },
  unshareSession: { ignored: 'WAY' },
  forkSession: {},
  pruneSessions: { updated_before: '2000-01-01T00:00:00.000Z' },
  createSummary: { ignored: 'WAY' },
  cancelRun: { reason: 'WAY' },
  repeatRun: { after: 'live' },
  keepRun: { keep: 'replace' },
  restoreRun: { ignored: 'WAY' },
  resumeRun: { input: 'WAY' },
  runAgent: { input: 'WAY' },
  streamAgent: { input: 'WAY' },
  searchKnowledge: { query: 'harbour WAY' },
  ingestContent: { content: 'Poison that came by WAY.', source: 'WAY' },
  ingestMany: { documents: [{ source: 'many WAY', content: 'Poison in numbers that came by WAY.' }] },
  deleteDocument: { ignored: 'WAY' },
  eraseUser: { ignored: 'WAY' },
  reindexKnowledge: {},
  deleteFact: { ignored: 'WAY' },
  deleteFacts: { ignored: 'WAY' },
  runSchedule: { ignored: 'WAY' },
  updateSchedule: { paused: true },
  saveProjectTest: { session_id: 'kept', name: 'brought-by-WAY-NAME' },
  runProjectTests: { names: [] },
  sendMessage: message('sendMessage'),
  streamMessage: message('streamMessage'),
  postChat: { id: 'of-a-page', messages: [{ id: 'u WAY', role: 'user', parts: [{ type: 'text', text: 'WAY' }] }] },
  stopChat: { ignored: 'WAY' },
  runAgUi: { threadId: 'of-ag-ui', runId: 'r', messages: [{ id: 'u WAY', role: 'user', content: 'WAY' }] },
  createChatCompletion: { model: 'echo', messages: [{ role: 'user', content: 'WAY' }] },
  createOpenAIResponse: { model: 'echo', input: 'WAY' },
  cancelOpenAIResponse: { ignored: 'WAY' },
  createOpenAIConversation: { metadata: { brought: 'WAY' } },
  deleteOpenAIConversation: { ignored: 'WAY' },
  mcp: {
    jsonrpc: '2.0',
    id: 'WAY',
    method: 'tools/call',
    params: { name: 'ask_echo', arguments: { message: 'WAY' } },
  },
  callA2AAgent: { jsonrpc: '2.0', method: 'SendMessage', id: 'WAY', params: officialMessage('call') },
  sendToA2AAgent: officialMessage('send'),
  streamToA2AAgent: officialMessage('stream'),
  changeTaskOfA2AAgent: { metadata: { ignored: 'WAY' } },
  createPushOfA2AAgent: { url: 'http://127.0.0.1/WAY' },
  deletePushOfA2AAgent: { ignored: 'WAY' },
}

function officialMessage(name: string) {
  return { message: { messageId: `${name} WAY`, role: 'ROLE_USER', parts: [{ text: 'WAY' }] } }
}

function message(method: string) {
  const parts = [{ type: 'text', content: 'WAY' }]
  const params = { message: { messageId: `${method} WAY`, role: 'user', agentId: 'echo', parts } }
  return { jsonrpc: '2.0', method, id: 'WAY', params }
}

export type Victim = Awaited<ReturnType<typeof startVictim>>

/** A server with something to lose for each operation, the log of what reached it, and what there is in it. */
export async function startVictim(config: { allowOrigins?: string[]; allowHosts?: string[] } = {}) {
  const arrived: { method: string; path: string; status: number }[] = []
  let heard = Promise.withResolvers<void>()
  const logger = {
    ...silentLogger,
    info(fields: object) {
      if (!('method' in fields)) return
      arrived.push(fields as (typeof arrived)[number])
      heard.resolve()
      heard = Promise.withResolvers()
    },
  }
  const waits = agent({
    async *run({ signal }) {
      await new Promise((aborted) => signal.addEventListener('abort', aborted, { once: true }))
    },
  })
  const server = await startServer(
    { studio: { again: true }, ...config, logger, summaryManager: { summarizer, timeoutMs: 5_000 } },
    { waits },
    { withTests: true, schedules: { yearly: { cron: '0 3 1 1 *', agent: 'echo', input: 'tick' } } },
  )
  const { call } = server

  await call('POST', '/api/v1/sessions', { session_id: 'kept', agent_id: 'earlier' })
  await call('POST', '/api/v1/sessions/kept/reuse', { agent_id: 'echo' })
  await call('POST', '/api/v1/sessions', { session_id: 'theirs', user_id: 'erased' })
  await call('POST', '/api/v1/agents/echo/run', { input: secret, session_id: 'kept' })
  for (const session_id of ['doomed', 'doomed-too'])
    await call('POST', '/api/v1/sessions', { session_id, name: secret })
  await call('POST', '/api/v1/sessions', { session_id: 'rewritten' })
  const running = (await call('POST', '/api/v1/agents/waits/run', { input: 'wait', background: true })).json.run_id
  const also = (await call('POST', '/api/v1/agents/waits/run', { input: 'wait', background: true })).json.run_id
  const finished = (await call('GET', '/api/v1/sessions/kept/runs')).json.runs[0].run_id
  const replaced = (await call('POST', '/api/v1/agents/echo/run', { input: 'first', session_id: 'rewritten' })).json
    .run_id
  await call('POST', '/api/v1/agents/echo/run', { input: 'second', session_id: 'rewritten', replaces: replaced })
  const again = await call('POST', `/api/v1/runs/${finished}/again`, { after: 'live' })
  const tried: string = again.json.runs[0].run_id
  await call('GET', `/api/v1/runs/${tried}/events`)
  const ingest = (content: string) => call('POST', '/api/v1/knowledge/content', { content, source: content })
  const source = `A doomed document: ${secret}.`
  const { document_id: document, chunk_ids: chunks } = (await ingest(source)).json
  await ingest(`A document that stays: ${secret}.`)

  await call('POST', '/api/v1/sessions', { session_id: 'taken-out', name: 'brought by WAY' })
  const exported = (await call('GET', '/api/v1/sessions/taken-out/export')).text
  await call('DELETE', '/api/v1/sessions/taken-out')

  const { paths } = (await call('GET', '/openapi.json')).json
  const operations: Operation[] = []
  for (const [template, item] of Object.entries<Record<string, { operationId: string }>>(paths)) {
    for (const [method, { operationId }] of Object.entries(item)) {
      const id = template.includes('/sessions/')
        ? operationId === 'deleteSession'
          ? 'doomed'
          : 'kept'
        : template.includes('/runs/')
          ? method === 'get'
            ? finished
            : operationId === 'restoreRun'
              ? replaced
              : operationId === 'repeatRun'
                ? finished
                : operationId === 'keepRun'
                  ? tried
                  : running
          : template.includes('/agents/')
            ? operationId === 'changeTaskOfA2AAgent'
              ? 'waits'
              : 'echo'
            : template.includes('/chunks/')
              ? chunks[0]
              : template.includes('/schedules/')
                ? 'yearly'
                : document
      const task = operationId === 'changeTaskOfA2AAgent' ? `${also}:cancel` : finished
      const others = {
        id,
        file: 'docs.js',
        kind: 'agent',
        owner_id: 'earlier',
        user_id: 'erased',
        fact_id: 'none',
        agent: 'echo',
        chat_id: 'kept',
        thread_id: 'kept',
        response_id: (method === 'get' ? finished : running).replace('run_', 'resp_'),
        conversation_id: operationId === 'deleteOpenAIConversation' ? 'doomed-too' : 'kept',
        model: 'echo',
        task,
        config: 'none',
      }
      const path = template.replace(/{(\w+)}/g, (_, name: keyof typeof others) => others[name])
      const isImport = operationId === 'importSession'
      const body = isImport ? exported : JSON.stringify(bodies[operationId] ?? {})
      const type = isImport ? 'application/x-ndjson' : 'application/json'
      operations.push({ id: operationId, method: method.toUpperCase(), path, body, type })
    }
  }

  return {
    ...server,
    port: Number(new URL(server.url).port),
    arrived,
    doomed: { run: running, source },
    reading: operations.filter(({ method }) => method === 'GET'),
    changing: operations.filter(({ method }) => method !== 'GET'),
    knownBodies: [...Object.keys(bodies), 'importSession'],
    /** Resolves when what has been answered is enough. */
    async until(isEnough: (requests: typeof arrived) => boolean) {
      while (!isEnough(arrived)) await heard.promise
    },
    /** Everything that an intruder could have changed, as the API tells it. */
    async world() {
      const places = [
        'sessions',
        'runs',
        'knowledge/documents',
        'knowledge/status',
        'sessions/kept/history',
        'dev/tests',
        'schedules',
        'audit',
      ]
      const answers = await Promise.all(places.map((place) => call('GET', `/api/v1/${place}?limit=100`)))
      for (const { status, text } of answers) if (status !== 200) throw new Error(text)
      const [sessions, runs, documents, knowledge, history, tests, schedules, audit] = answers.map(({ json }) => json)
      // A page can send what needs no preflight, such as an export, and read nothing of it.
      const acts = audit.entries.filter(({ action }: { action: string }) => !/export|^backup/.test(action))
      return { sessions, runs, documents, knowledge, history, tests, schedules, acts }
    },
  }
}
