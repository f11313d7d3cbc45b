import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { type OpenApi, type Operation, operationsOf } from './fields.ts'
import { type As, api, type Credentials, type People, toMessage, withPeople } from './people.ts'
import { mountedRoutes } from './routes.ts'

/*
 * Two users, every route, every field that could name the other's data. The routes and their fields come from the OpenAPI
 * document; one that nothing is said about here fails.
 */

/** What bob has. */
interface Foreign {
  session: string
  run: string
  child: string
  waiting: string
  file: string
  /** What is remembered about bob. */
  fact: string
  /** A model call of the run. */
  call: string
  message: string
  etag: string
  copy: string
  cursors: Record<string, string>
  /** The idempotency key that bob has used on every route that takes one. */
  key: string
}

interface Own {
  session: string
  run: string
}

interface Ask {
  /** What stands in the path for `{id}`; default: the own session or run. */
  id?: string
  /** What stands for `{task}`; default: the own run. */
  task?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
  /** What it must answer; default: anything but an error of the server. */
  status?: number
}

/** By operation, by field: what is asked with that field naming what is bob's. */
type Cases = Record<string, (bob: Foreign, ann: Own) => Record<string, Ask | Ask[]>>

const ndjson = { 'content-type': 'application/x-ndjson' }
const run = { input: 'hello' }
const later = '2999-01-01T00:00:00.000Z'

type CopyLine = { type: string; session: Record<string, unknown>; run: Record<string, unknown> }

/** As a line of bob's own copy says it, with something else in place. */
function edited(copy: string, change: (line: CopyLine) => void): string {
  const lines = copy.trim().split('\n')
  return lines
    .map((text) => {
      const line = JSON.parse(text)
      change(line)
      return JSON.stringify(line)
    })
    .join('\n')
}
const ofNobody = (copy: string) =>
  edited(copy, (line) => {
    if (line.type === 'session') line.session.user_id = null
  })

/** A copy of other runs, whose marks name one of bob's. */
const marked = (bob: Foreign, field: 'replaced_by' | 'follows') =>
  edited(ofNobody(bob.copy).replaceAll('"run_', '"run_x'), (line) => {
    if (line.type === 'run' && line.run.parent_run_id === null) line.run[field] = bob.run
  })

const filters = (bob: Foreign): Record<string, Ask> => ({
  'query.agent_id': { query: { agent_id: 'echo' } },
  'query.team_id': { query: { team_id: 'pair' } },
  'query.workflow_id': { query: { workflow_id: 'echo' } },
  'query.user_id': { query: { user_id: 'bob' } },
  'query.session_id': { query: { session_id: bob.session } },
  'query.parent_run_id': { query: { parent_run_id: bob.run } },
})
const only = (all: Record<string, Ask>, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [`query.${name}`, all[`query.${name}`] as Ask]))

const foreignSession = (bob: Foreign, ask: Ask = {}): Ask => ({ ...ask, id: bob.session, status: 404 })
const foreignRuns = (bob: Foreign, ask: Ask = {}): Ask[] =>
  [bob.run, bob.child, bob.waiting].map((id) => ({ ...ask, id, status: 404 }))

const fileOf = (bob: Foreign) => ({ type: 'file', media_type: 'text/plain', file_id: bob.file })

const started =
  (way: string) =>
  (bob: Foreign): Record<string, Ask | Ask[]> => ({
    // An id that another has taken can be seen to be taken, but not by whom or what for: the one thing that is known of it.
    'body.session_id': { id: 'echo', body: { ...run, session_id: bob.session }, status: 404 },
    'body.user_id': { id: 'echo', body: { ...run, user_id: 'bob' }, status: 403 },
    'body.replaces': { id: 'echo', body: { ...run, session_id: bob.session, replaces: bob.run }, status: 404 },
    // A file of the record is never sent, one's own neither.
    'body.file_id': [
      { input: { parts: [fileOf(bob)] } },
      { ...run, history: [{ role: 'user', parts: [fileOf(bob)] }] },
    ].map((body) => ({ id: 'echo', body, status: 400 })),
    'header.Idempotency-Key': { id: 'echo', body: run, headers: { 'idempotency-key': bob.key + way }, status: 200 },
  })

const sent =
  (method: string) =>
  (bob: Foreign): Record<string, Ask> => ({
    'body.contextId': { body: toMessage(method, { messageId: 'new', contextId: bob.session }), status: 200 },
    'body.messageId': { body: toMessage(method, { messageId: bob.message }), status: 200 },
    'header.Idempotency-Key': {
      body: toMessage(method, { messageId: 'other' }),
      headers: { 'idempotency-key': bob.key },
      status: 200,
    },
  })

const said = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }
/** What a page posts to answer a card. */
const decided = (id: string) => ({
  id,
  role: 'assistant',
  parts: [
    { type: 'tool-any', toolCallId: 'any', state: 'approval-responded', approval: { id: 'any', approved: true } },
  ],
})

const hello = { role: 'user', content: 'hello' }
/** As bob's first turn. */
const completed = [hello, { role: 'assistant', content: 'hello' }]
const completion = (more: object) => ({ model: 'echo', messages: [hello], user: 'bob', ...more })
const attempt = (count: number) => ({ 'x-stainless-retry-count': String(count) })

function foreignTasks(bob: Foreign, verbs: string[], more: Ask = {}): Ask[] {
  return [bob.run, bob.child, bob.waiting].flatMap((task) =>
    verbs.map((verb) => ({ ...more, task: task + verb, status: 404 })),
  )
}

/** Nobody is there. */
const nowhere = 'http://127.0.0.1:9/'

function pushOf(fields: string[], more: Ask = {}): Cases[string] {
  return (bob) =>
    Object.fromEntries(fields.map((field) => [field, { ...more, id: 'pair', task: bob.run, status: 404 }]))
}

const official = (fields: object) => ({
  message: { messageId: 'the-message-of-bob', role: 'ROLE_USER', parts: [{ text: 'approve' }], ...fields },
})

const officialSend: Cases[string] = (bob) => ({
  'body.message.taskId': [bob.run, bob.waiting].map((taskId) => ({ body: official({ taskId }), status: 404 })),
  'body.message.contextId': { body: official({ contextId: bob.session }), status: 400 },
  'body.message.messageId': { body: official({}), status: 200 },
})

/** Over JSON-RPC every answer is 200. */
function rpcCases(bob: Foreign): Ask[] {
  const params = [bob.run, bob.child, bob.waiting].flatMap((id) => [{ id }, official({ taskId: id })])
  const methods = ['SendMessage', 'SendStreamingMessage', 'GetTask', 'CancelTask', 'SubscribeToTask', 'ListTasks']
  const old = ['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe']
  return [...params, official({ contextId: bob.session }), { contextId: bob.session }, { pageToken: bob.run }].flatMap(
    (given) =>
      [...methods, ...old].map((method) => ({ body: { jsonrpc: '2.0', id: 1, method, params: given }, status: 200 })),
  )
}

/** Over MCP every answer to a tool is 200: a run or session of another user is an error of the tool. */
function toolCases(bob: Foreign): Ask[] {
  const headers = { accept: 'application/json, text/event-stream' }
  const ask = (name: string, args: object): Ask => ({
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    headers,
    status: 200,
  })
  return [
    ...[bob.run, bob.child, bob.waiting].flatMap((run_id) => [
      ask('get_run', { run_id, wait_seconds: 1 }),
      ask('answer_run', { run_id, input: 'mine', wait_seconds: 1 }),
      ask('cancel_run', { run_id }),
    ]),
    ask('ask_echo', { message: 'hello', session_id: bob.session, wait_seconds: 1 }),
  ]
}

const answered = { model: 'echo', input: 'hello' }
const ofRun = (kind: string, run: string) => run.replace(/^run/, kind)
const foreignResponses = (bob: Foreign) =>
  [bob.run, bob.child, bob.waiting].flatMap((run) => [ofRun('resp', run), `${ofRun('resp', run)}_2`])
const approves = (run: string) => ({
  type: 'mcp_approval_response',
  approval_request_id: `${ofRun('mcpr', run)}_may`,
  approve: true,
})

const ofBob = { 'path.user_id': { status: 403 } }

const cases: Cases = {
  listFacts: () => ofBob,
  deleteFacts: () => ofBob,
  deleteFact: () => ({ ...ofBob, 'path.fact_id': { status: 403 } }),
  listSchedules: () => ({}),
  getSchedule: () => ({ 'path.id': { id: 'of-bob', status: 404 } }),
  runSchedule: (bob) => ({
    'path.id': { id: 'of-bob', body: {}, status: 404 },
    'header.Idempotency-Key': { id: 'of-ann', body: {}, headers: { 'idempotency-key': bob.key }, status: 202 },
  }),
  createSession: (bob) => ({
    'body.session_id': { body: { session_id: bob.session }, status: 409 },
    'body.user_id': { body: { user_id: 'bob' }, status: 403 },
    'header.Idempotency-Key': { body: {}, headers: { 'idempotency-key': bob.key }, status: 201 },
  }),
  listSessions: (bob) => ({
    ...only(filters(bob), 'agent_id', 'team_id', 'workflow_id', 'user_id'),
    'query.updated_before': { query: { updated_before: later } },
    'query.view': ['', 'bob'].map((user_id) => ({
      query: { view: 'head', total: 'true', ...(user_id && { user_id }) },
    })),
    'query.cursor': { query: { cursor: bob.cursors.sessions ?? '' }, status: 200 },
  }),
  getSession: (bob) => ({
    'path.id': foreignSession(bob),
    'header.If-None-Match': [
      foreignSession(bob, { headers: { 'if-none-match': bob.etag } }),
      { headers: { 'if-none-match': '"0"' }, status: 200 },
    ],
  }),
  updateSession: (bob) => ({
    'path.id': [{}, { name: 'taken over' }, { unknown: 1 }].map((body) => foreignSession(bob, { body })),
    'header.If-Match': foreignSession(bob, { body: { name: 'taken over' }, headers: { 'if-match': bob.etag } }),
  }),
  deleteSession: (bob) => ({ 'path.id': foreignSession(bob) }),
  reuseSession: (bob) => ({
    'path.id': [{ agent_id: 'x' }, { user_id: 'ann' }, {}].map((body) => foreignSession(bob, { body })),
    'body.user_id': { body: { user_id: 'bob' }, status: 403 },
    'body.agent_id': { body: { agent_id: 'echo' }, status: 200 },
    'body.team_id': { body: { team_id: 'pair' }, status: 200 },
    'body.workflow_id': { body: { workflow_id: 'echo' }, status: 200 },
  }),
  unshareSession: (bob) => ({
    'path.id': foreignSession(bob),
    'path.kind': foreignSession(bob),
    'path.owner_id': { status: 404 },
  }),
  pruneSessions: () => ({
    'body.user_id': { body: { updated_before: later, user_id: 'bob' }, status: 403 },
    'body.agent_id': { body: { updated_before: '2000-01-01T00:00:00.000Z', agent_id: 'echo' }, status: 200 },
    'body.team_id': { body: { updated_before: later, team_id: 'pair' }, status: 200 },
    'body.workflow_id': { body: { updated_before: later, workflow_id: 'x' }, status: 200 },
    'body.updated_before': { body: { updated_before: later, agent_id: 'asking' }, status: 200 },
  }),
  listSessionRuns: (bob) => ({
    'path.id': foreignSession(bob),
    'query.files': foreignSession(bob, { query: { files: 'true' } }),
    ...only(filters(bob), 'agent_id'),
    'query.cursor': { query: { cursor: bob.cursors.runs ?? '' }, status: 200 },
  }),
  forkSession: (bob) => ({
    'path.id': [foreignSession(bob, { body: {} }), foreignSession(bob, { body: { run_id: bob.run } })],
    'body.run_id': { body: { run_id: bob.run }, status: 404 },
    'body.before_run_id': [bob.run, bob.child, bob.waiting].map((before_run_id) => ({
      body: { before_run_id },
      status: 404,
    })),
    'body.session_id': { body: { session_id: bob.session }, status: 409 },
    'header.Idempotency-Key': { body: {}, headers: { 'idempotency-key': bob.key }, status: 201 },
  }),
  getFile: (bob) => ({
    'path.id': foreignSession(bob),
    'path.file_id': [{ status: 404 }, foreignSession(bob)],
  }),
  getSessionTest: (bob) => ({ 'path.id': foreignSession(bob) }),
  exportSession: (bob) => ({ 'path.id': [foreignSession(bob), foreignSession(bob, { query: { events: 'false' } })] }),
  importSession: (bob) => {
    const load = (body: string, status: number, query: Record<string, string> = {}) => ({
      body,
      headers: ndjson,
      status,
      query,
    })
    const copy = ofNobody(bob.copy)
    return {
      'body.session_id': load(copy, 409),
      'body.run_id': load(copy.replaceAll(bob.session, 'another'), 409),
      'body.parent_run_id': load(copy.replaceAll(bob.session, 'another'), 409),
      'body.replaced_by': load(marked(bob, 'replaced_by'), 400, { new_ids: 'true' }),
      'body.follows': load(marked(bob, 'follows'), 400, { new_ids: 'true' }),
      'body.file_id': load(copy.replaceAll(bob.session, 'another'), 409),
      'body.user_id': [load(bob.copy, 403), load(bob.copy, 403, { new_ids: 'true' })],
      'header.Idempotency-Key': { ...load(copy, 409), headers: { ...ndjson, 'idempotency-key': bob.key } },
    }
  },
  getSummary: (bob) => ({ 'path.id': foreignSession(bob) }),
  createSummary: (bob) => ({
    'path.id': foreignSession(bob),
    'query.async': foreignSession(bob, { query: { async: 'true' } }),
  }),
  getHistory: (bob) => ({
    'path.id': foreignSession(bob),
    'query.before': [
      foreignSession(bob, { query: { before: bob.run } }),
      { query: { before: bob.run }, status: 404 },
      { query: { before: bob.waiting, replaced: 'true' }, status: 404 },
    ],
    'query.num_messages': foreignSession(bob, { query: { num_messages: '1000' } }),
    'query.stream_events': foreignSession(bob, { query: { stream_events: 'true' } }),
  }),
  searchMessages: (bob) => {
    const found = only(filters(bob), 'session_id', 'agent_id', 'team_id', 'workflow_id', 'user_id')
    const searched = Object.entries(found).map(([name, { query }]) => [name, { query: { q: 'private', ...query } }])
    return {
      ...Object.fromEntries(searched),
      'query.q': { query: { q: 'private' }, status: 200 },
      'query.cursor': { query: { q: 'private', cursor: bob.cursors.messages ?? '' }, status: 200 },
    }
  },
  listRuns: (bob) => ({
    ...only(filters(bob), 'agent_id', 'session_id', 'parent_run_id'),
    'query.cursor': { query: { cursor: bob.cursors.runs ?? '' }, status: 200 },
  }),
  getRun: (bob) => ({ 'path.id': foreignRuns(bob) }),
  cancelRun: (bob) => ({ 'path.id': foreignRuns(bob, { body: {} }) }),
  keepRun: (bob) => ({
    'path.id': ['fork', 'replace'].flatMap((keep) => foreignRuns(bob, { body: { keep } })),
    'header.Idempotency-Key': foreignRuns(bob, { body: { keep: 'fork' }, headers: { 'idempotency-key': 'k' } }),
  }),
  restoreRun: (bob) => ({ 'path.id': foreignRuns(bob) }),
  resumeRun: (bob) => ({
    'path.id': [{ approved: true }, { input: 'yes', stream: true }, { background: true }].flatMap((body) =>
      foreignRuns(bob, { body }),
    ),
    'query.include': foreignRuns(bob, { body: { approved: true }, query: { include: 'prompts' } }),
  }),
  followRun: (bob) => ({
    'path.id': foreignRuns(bob),
    'query.after': foreignRuns(bob, { query: { after: '1' } }),
    'query.include': foreignRuns(bob, { query: { include: 'prompts' } }),
    'header.Last-Event-ID': foreignRuns(bob, { headers: { 'last-event-id': '1' } }),
  }),
  live: (bob) => {
    const foreign = [bob.run, bob.child].map((runId) => ({
      query: { follow: `${runId}:0`, children: 'true' },
      status: 200,
    }))
    return {
      'query.follow': foreign,
      'query.follow_sessions': { query: { follow_sessions: bob.session, children: 'true' }, status: 200 },
      'query.children': foreign,
      'query.include': foreign.map((ask) => ({ ...ask, query: { ...ask.query, include: 'prompts' } })),
      'header.Last-Event-ID': { headers: { 'last-event-id': 'srv_other.1' }, status: 200 },
    }
  },
  traceRun: (bob) => ({
    'path.id': foreignRuns(bob),
    'query.call': [...foreignRuns(bob, { query: { call: bob.call } }), { query: { call: bob.call }, status: 404 }],
    'query.cursor': foreignRuns(bob, { query: { cursor: bob.cursors.runs ?? '' } }),
  }),
  getRunText: (bob) => ({
    'path.id': foreignRuns(bob),
    'query.as': foreignRuns(bob, { query: { as: 'curl' } }),
  }),
  runAgent: started('run'),
  streamAgent: started('run/stream'),
  mcp: (bob) => ({ 'body.params': toolCases(bob) }),
  callA2AAgent: (bob) => ({ 'body.params': rpcCases(bob) }),
  sendToA2AAgent: officialSend,
  streamToA2AAgent: officialSend,
  listTasksOfA2AAgent: (bob) => ({
    'query.contextId': { query: { contextId: bob.session }, status: 200 },
    'query.pageToken': { query: { pageToken: bob.run }, status: 200 },
  }),
  getTaskOfA2AAgent: (bob) => ({ 'path.task': foreignTasks(bob, ['', ':subscribe']) }),
  changeTaskOfA2AAgent: (bob) => ({ 'path.task': foreignTasks(bob, [':cancel', ':subscribe'], { body: {} }) }),
  listPushOfA2AAgent: pushOf(['path.task']),
  createPushOfA2AAgent: pushOf(['path.task'], { body: { id: 'private', url: nowhere } }),
  getPushOfA2AAgent: pushOf(['path.task', 'path.config']),
  deletePushOfA2AAgent: pushOf(['path.task', 'path.config']),
  sendMessage: sent('sendMessage'),
  streamMessage: sent('streamMessage'),
  postChat: (bob, own) => ({
    'path.agent': { body: { id: own.session, messages: [said] }, status: 200 },
    'query.ui': { body: { id: bob.session, messages: [said] }, query: { ui: '5' }, status: 404 },
    'query.on_disconnect': {
      body: { id: bob.session, messages: [said] },
      query: { on_disconnect: 'cancel' },
      status: 404,
    },
    'body.messageId': ['submit-message', 'regenerate-message'].map((trigger) => ({
      body: { id: own.session, messages: [{ ...said, id: bob.message }], trigger, messageId: bob.message },
      status: 200,
    })),
    'body.trigger': { body: { id: bob.session, messages: [said], trigger: 'regenerate-message' }, status: 404 },
    'body.agentserve': { body: { id: own.session, messages: [said], agentserve: { user_id: 'bob' } }, status: 403 },
    'body.user_id': { body: { id: 'new', message: said, agentserve: { user_id: 'bob' } }, status: 403 },
    'body.message': [bob.waiting, bob.run].flatMap((run) => {
      const message = decided(run.replace('run_', 'msg_'))
      return [
        { body: { id: own.session, message }, status: 400 },
        { body: { id: bob.session, message }, status: 404 },
      ]
    }),
  }),
  runAgUi: (bob, own) => {
    const asked = { threadId: own.session, runId: 'new', messages: [{ id: 'm', role: 'user', content: 'hello' }] }
    const waiting = [bob.waiting, bob.run]
    return {
      'path.agent': { body: asked, status: 200 },
      'body.threadId': { body: { ...asked, threadId: bob.session }, status: 404 },
      // Bob has run under the same name, or it is that of his run.
      'body.runId': ['r1', bob.run].map((runId) => ({ body: { ...asked, runId }, status: 200 })),
      'body.id': { body: { ...asked, messages: [{ ...asked.messages[0], id: bob.message }] }, status: 200 },
      'body.messages': waiting.flatMap((run) =>
        [own.session, bob.session].map((threadId) => ({
          body: {
            ...asked,
            threadId,
            messages: [
              { id: 't', role: 'tool', toolCallId: run.replace('run_', 'call_').concat('_any'), content: 'x' },
            ],
          },
          status: 200,
        })),
      ),
      'body.resume': waiting.flatMap((run) =>
        [own.session, bob.session].map((threadId) => ({
          body: {
            ...asked,
            threadId,
            resume: [{ interruptId: `${run}/any`, status: 'resolved', payload: { approved: true } }],
          },
          status: 200,
        })),
      ),
      'body.interruptId': {
        body: { ...asked, resume: [{ interruptId: `${bob.run}/any`, status: 'cancelled' }] },
        status: 200,
      },
      'body.forwardedProps': {
        body: { ...asked, runId: 'other', forwardedProps: { agentserve: { user_id: 'bob' } } },
        status: 403,
      },
      'body.user_id': {
        body: { ...asked, threadId: 'new', forwardedProps: { agentserve: { user_id: 'bob' } } },
        status: 403,
      },
    }
  },
  connectAgUi: (bob) => ({
    'path.agent': { status: 200 },
    'path.thread_id': { id: bob.session, status: 404 },
    'query.runId': { id: bob.session, query: { runId: bob.run }, status: 404 },
  }),
  createChatCompletion: (bob) => {
    const foreign = { body: completion({}), status: 404 }
    const asked = (message: object) => ({ body: completion({ messages: [...completed, message] }), status: 200 })
    return {
      'header.X-Session-Id': { ...foreign, headers: { 'x-session-id': bob.session } },
      'header.X-OpenWebUI-Chat-Id': { ...foreign, headers: { 'x-openwebui-chat-id': bob.session } },
      'body.session_id': { ...foreign, body: completion({ metadata: { session_id: bob.session } }) },
      // Bob has sent the same.
      'header.X-Stainless-Retry-Count': { ...asked(hello), body: completion({}), headers: attempt(1) },
      'body.messages': asked(hello),
      'body.user': asked(hello),
      'body.tool_call_id': [bob.waiting, bob.run].map((run) =>
        asked({ role: 'tool', tool_call_id: run.replace('run_', 'call_').concat('_any'), content: 'done' }),
      ),
    }
  },
  streamChat: (bob) => ({
    'path.agent': { status: 204 },
    'path.chat_id': { id: bob.session, status: 204 },
    'query.ui': { id: bob.session, query: { ui: '5' }, status: 204 },
  }),
  stopChat: (bob) => ({
    'path.agent': { body: {}, status: 200 },
    'path.chat_id': { id: bob.session, body: {}, status: 200 },
    'body.activeStreamId': { body: { activeStreamId: bob.run }, status: 200 },
  }),
  getChat: (bob) => ({
    'path.agent': { status: 200 },
    'path.chat_id': { id: bob.session, status: 404 },
    'query.ui': { id: bob.session, query: { ui: '5' }, status: 404 },
  }),
  createOpenAIResponse: (bob) => ({
    'body.previous_response_id': foreignResponses(bob).flatMap((previous_response_id) => [
      { body: { ...answered, previous_response_id }, status: 400 },
      { body: { ...answered, previous_response_id, input: [approves(bob.waiting)] }, status: 400 },
    ]),
    'body.conversation': [bob.session, { id: bob.session }].map((conversation) => ({
      body: { ...answered, conversation },
      status: 404,
    })),
    'body.input': [
      { body: { model: 'echo', input: [{ role: 'user', content: 'hello' }, approves(bob.waiting)] }, status: 200 },
      ...['msg', 'mcpr'].map((kind) => ({
        body: {
          model: 'echo',
          input: [
            { type: 'item_reference', id: `${ofRun(kind, bob.run)}_1` },
            { role: 'user', content: 'hello' },
          ],
        },
        status: kind === 'msg' ? 400 : 200,
      })),
    ],
    'body.model': { body: { ...answered, model: undefined, conversation: bob.session }, status: 400 },
    'header.X-On-Disconnect': { body: answered, headers: { 'x-on-disconnect': 'continue' }, status: 200 },
  }),
  getOpenAIResponse: (bob) => ({
    'path.response_id': foreignResponses(bob).flatMap((id) => [
      { id, status: 404 },
      { id, query: { stream: 'true' }, status: 404 },
    ]),
  }),
  cancelOpenAIResponse: (bob) => ({
    'path.response_id': foreignResponses(bob).map((id) => ({ id, body: {}, status: 404 })),
  }),
  listOpenAIInputItems: (bob) => ({
    'path.response_id': foreignResponses(bob).map((id) => ({ id, status: 404 })),
    'query.after': { id: ofRun('resp', bob.run), query: { after: ofRun('msg', bob.run) }, status: 404 },
  }),
  createOpenAIConversation: () => ({}),
  getOpenAIConversation: (bob) => ({ 'path.conversation_id': foreignSession(bob) }),
  deleteOpenAIConversation: (bob) => ({ 'path.conversation_id': foreignSession(bob) }),
}

/** The same for everybody: agents, knowledge, the server itself. */
const ofEverybody = new Set([
  'listA2AAgents',
  'getCardOfA2AAgent',
  'getWellKnownCardOfA2AAgent',
  'getOldCardOfA2AAgent',
  'getCardOfDefaultA2AAgent',
  'getOldCardOfDefaultA2AAgent',
  'getExtendedCardOfA2AAgent',
  'listAgents',
  'getAgent',
  'searchKnowledge',
  'getKnowledgeConfig',
  'ingestContent',
  'ingestMany',
  'listDocuments',
  'getDocument',
  'getChunk',
  'listChunks',
  'deleteDocument',
  'reindexKnowledge',
  'getKnowledgeStatus',
  'getMe',
  'getProtectedResource',
  'getProtectedResourceOfMcp',
  'getHealth',
  'getReadiness',
  'getHome',
  'getDocs',
  'getDocsAsset',
  'getOpenApiYaml',
  'getOpenApiJson',
  'getStudio',
  'getStudioAsset',
  'listOpenAIModels',
  'getOpenAIModel',
])

/** Says something of the request or of what is made by it, and names nothing that is there. */
const namesNothing = new Set([
  ...['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'].map((name) => `header.${name}`),
  ...['header.A2A-Version', 'query.pageSize', 'query.historyLength', 'query.statusTimestampAfter'],
  'query.includeArtifacts',
  'body.configuration',
  ...['limit', 'status', 'total', 'again', 'events', 'new_ids', 'include', 'replaced'].map((name) => `query.${name}`),
  ...['name', 'metadata', 'state', 'reason', 'approved', 'after', 'input', 'stream', 'background', 'on_disconnect'],
  ...['multitask_strategy', 'parts', 'type', 'text', 'data', 'content', 'jsonrpc', 'method', 'id', 'params', 'message'],
  ...['onDisconnect', 'markData', 'role', 'agentId', 'media_type', 'url', 'size', 'file', 'files', 'request'],
  // Of an import: what is in a copy is the caller's from then on, whatever it says.
  ...['version', 'session', 'summary', 'handovers', 'shared_with', 'created_at', 'updated_at', 'model', 'run_count'],
  ...['message_count', 'run', 'entity_id', 'entity_kind', 'started_at', 'completed_at', 'cancellation_reason', 'error'],
  ...['cache_hit', 'usage', 'timeout_ms', 'truncated', 'end_seq', 'messages', 'sources', 'code', 'input_tokens'],
  ...['output_tokens', 'total_tokens', 'message_id', 'index', 'source', 'document_id', 'chunk_id', 'line_start'],
  ...['line_end', 'page', 'events', 'seq', 'at', 'runs', 'status', 'agent_ids', 'team_ids', 'workflow_ids', 'user_ids'],
  ...['agent_id', 'team_id', 'workflow_id'],
  ...['waiting', 'call_id', 'child_run_id', 'kind', 'tool', 'prompt', 'schema', 'answers', 'output'],
  ...['given', 'history', 'instructions', 'output_schema', 'client_tools', 'description', 'parameters', 'edit'],
  ...['usage_by_model', 'cached_input_tokens', 'cache_write_tokens', 'reasoning_tokens', 'largest_input_tokens'],
  ...['unreported_calls', 'refused'],
  ...['again_of', 'from', 'keep', 'traceparent'],
  ...['query.stream', 'query.starting_after', 'query.order', 'tools', 'tool_choice', 'format', 'store'],
  // What a protocol says again to whom it was said.
  ...['protocol', 'echo'],
  ...['stream_options', 'include_usage', 'tools', 'tool_choice', 'response_format', 'safety_identifier'],
  'header.X-On-Disconnect',
  // Of AG-UI: its version, and what stands in the fields below.
  ...['query.protocolVersion', 'protocolVersion', 'context', 'agentserve', 'payload'],
])
const isNothing = (field: string) => namesNothing.has(field) || namesNothing.has(field.replace(/^body\./, ''))

const ways: [string, Credentials, ServerConfig][] = [
  ['SQLite', 'keys', {}],
  ['memory', 'keys', { sessionStorage: 'memory' }],
  ['SQLite', 'tokens', {}],
]

describe.each(ways)('with %s and %s', (_way, by, config) => {
  let people: People
  let operations: Operation[]
  let bob: Foreign
  let ann: As
  let secrets: string[]

  beforeAll(async () => {
    people = await withPeople(['ann', 'bob'], config, {}, by)
    const { operator } = people
    ann = people.as('ann')
    operations = operationsOf((await operator('GET', '/openapi.json')).json as OpenApi)
    bob = await fill(people.as('bob'))
    secrets = await secretsOf(operator)
  })
  afterAll(() => people.server.close())

  /** All that a user can have. */
  async function fill(as: As): Promise<Foreign> {
    const key = 'the-key-of-a-request'
    const keyed = { 'idempotency-key': key }
    const state = { name: 'private name', metadata: { private: 1 }, state: { private: 2 } }
    const session = 'private-session-of-bob'
    await as('POST', `${api}/sessions`, { session_id: session, agent_id: 'echo', ...state })
    const { run_id, messages } = (
      await as('POST', `${api}/agents/pair/run`, { input: 'private words of bob', session_id: session })
    ).json
    const hook = { id: 'private', url: nowhere, token: 'private token' }
    const pushed = await as('POST', `${api}/a2a/agents/pair/tasks/${run_id}/pushNotificationConfigs`, hook)
    expect(pushed.status).toBe(200)
    const upload = { type: 'file', media_type: 'text/plain', name: 'private name', data: btoa('private words') }
    const brought = await as('POST', `${api}/agents/echo/run`, { input: { parts: [upload] }, session_id: session })
    const file = brought.json.messages[0].parts[0].file_id
    const asked = (await as('POST', `${api}/agents/docs/run`, { input: 'private words', session_id: session })).json
    const call = (await as('GET', `${api}/runs/${asked.run_id}/trace`)).json.calls[0].call_id
    await as('POST', `${api}/agents/remembering/run`, { input: 'private fact' })
    const fact = (await as('GET', `${api}/users/bob/facts`)).json.facts[0].fact_id
    const { run_id: waiting } = (await as('POST', `${api}/agents/asking/run`, { input: 'private question' })).json
    const child = (await as('GET', `${api}/runs?parent_run_id=${run_id}`)).json.runs[0].run_id
    await as('POST', `${api}/sessions/${session}/summary`)
    expect((await as('POST', `${api}/schedules/of-bob/run`, {}, keyed)).status).toBe(202)
    await as('POST', `${api}/sessions`, {}, keyed)
    await as('POST', `${api}/sessions/${session}/fork`, {}, keyed)
    for (const way of ['run', 'run/stream']) {
      const headers = { 'idempotency-key': key + way }
      expect((await as('POST', `${api}/agents/echo/${way}`, run, headers)).status).toBe(200)
    }
    const message = 'the-message-of-bob'
    for (const method of ['sendMessage', 'streamMessage']) {
      await as('POST', `${api}/a2a/${method}`, toMessage(method, { messageId: message }))
      await as('POST', `${api}/a2a/${method}`, toMessage(method, { messageId: 'other' }), keyed)
    }
    expect((await as('POST', '/v1/chat/completions', completion({}), attempt(0))).status).toBe(200)
    const copy = (await as('GET', `${api}/sessions/${session}/export`)).text
    await as('POST', `${api}/sessions/import?new_ids=true`, copy, { ...ndjson, ...keyed })
    const cursorOf = async (path: string) => (await as('GET', `${api}/${path}`)).json.next_cursor as string
    const cursors = {
      sessions: await cursorOf('sessions?limit=1'),
      runs: await cursorOf('runs?limit=1'),
      messages: await cursorOf('messages?q=private&limit=1'),
    }
    expect(Object.values(cursors).every((cursor) => typeof cursor === 'string')).toBe(true)
    const etag = (await as('GET', `${api}/sessions/${session}`)).headers.get('etag') ?? ''
    expect(messages.length).toBeGreaterThan(1)
    return { session, run: run_id, child, waiting, file, fact, call, message, etag, copy, cursors, key }
  }

  /** Every id and text of bob's, as an operator sees them. */
  async function secretsOf(operator: As): Promise<string[]> {
    const { sessions } = (await operator('GET', `${api}/sessions?user_id=bob&limit=100`)).json
    expect(sessions.length).toBeGreaterThanOrEqual(8)
    const found = new Set(['private words', 'private question', 'private name', 'private fact'])
    for (const { session_id } of sessions) {
      found.add(session_id)
      const { text } = await operator('GET', `${api}/sessions/${session_id}/export`)
      for (const [id] of text.matchAll(/(?:run|msg|ses|file)_[0-9a-z]{20,}/g)) found.add(id)
    }
    return [...found]
  }

  const state = async () => {
    const { sessions } = (await people.operator('GET', `${api}/sessions?user_id=bob&limit=100`)).json
    const runs: { run_id: string }[] = []
    for (let cursor = ''; ; ) {
      const { json } = await people.operator('GET', `${api}/runs?limit=100${cursor}`)
      runs.push(...json.runs)
      if (json.next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(json.next_cursor)}`
    }
    const { facts } = (await people.operator('GET', `${api}/users/bob/facts`)).json
    return JSON.stringify([sessions, facts, runs.filter(({ run_id }) => secrets.includes(run_id))])
  }

  test('the matrix is that of the routes: each that is mounted, each of its fields, and no other', () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      mountedRoutes()
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    )
    const ofUsers = mountedRoutes().filter(
      ({ scope }) => ![scope].flat().some((one) => ['admin', 'metrics', 'operator'].includes(String(one))),
    )
    expect([...Object.keys(cases), ...ofEverybody].sort()).toEqual(ofUsers.map(({ doc }) => doc.operationId).sort())
    for (const { operationId, fields } of operations) {
      const said = cases[operationId]?.(bob, { session: '', run: '' })
      if (said === undefined) continue
      const open = fields.filter((field) => said[field] === undefined && !isNothing(field))
      const unknown = Object.keys(said).filter((field) => !fields.includes(field))
      // An agent, a document and what they are asked for are everybody's.
      expect([
        operationId,
        open.filter((field) => !/Agent$/.test(operationId) || field !== 'path.id'),
        unknown.filter((field) => !/^body\.(?:params|message)/.test(field)),
      ]).toEqual([operationId, [], []])
    }
  })

  test('no field of any route tells a user of another, or changes what is the other’s', async () => {
    const before = await state()
    let asked = 0
    for (const { operationId, method, path } of operations) {
      const own = await ownOf(ann)
      for (const [field, asks] of Object.entries(cases[operationId]?.(bob, own) ?? {})) {
        for (const { id, task = own.run, query = {}, headers, body, status } of [asks].flat()) {
          const ownId = path.includes('/runs/{id}') ? own.run : path.includes('/a2a/') ? 'echo' : own.session
          const target = path
            .replace('{id}', id ?? ownId)
            .replace('{task}', task)
            .replace('{user_id}', 'bob')
            .replace('{fact_id}', bob.fact)
            .replace('{config}', 'private')
            .replace('{kind}', 'user')
            .replace('{owner_id}', 'bob')
            .replace('{file_id}', bob.file)
            .replace('{agent}', 'echo')
            .replace('{chat_id}', id ?? own.session)
            .replace('{thread_id}', id ?? own.session)
            .replace('{conversation_id}', id ?? own.session)
            .replace('{response_id}', id ?? ofRun('resp', own.run))
          const search = new URLSearchParams(query).toString()
          const answer = await ann(method, target + (search && `?${search}`), body, headers)
          const about = `${operationId} ${field} ${JSON.stringify(query)} ${target}`
          if (status === undefined) expect([about, answer.status < 500]).toEqual([about, true])
          else expect([about, answer.status]).toEqual([about, status])
          const said = `${target} ${search} ${typeof body === 'string' ? body : JSON.stringify([body, headers])}`
          const heard = `${answer.text} ${[...answer.headers.values()].join(' ')}`
          const leaked = secrets.filter((secret) => heard.includes(secret) && !said.includes(secret))
          expect([about, leaked]).toEqual([about, []])
          asked++
        }
      }
    }
    expect(asked).toBeGreaterThan(90)
    expect(await state()).toBe(before)
  })

  async function ownOf(as: As): Promise<Own> {
    const made = (await as('POST', `${api}/agents/echo/run`, { input: 'of ann' })).json
    return { session: made.session_id, run: made.run_id }
  }

  test("an id that another has taken answers like one's own, and like a free one where nothing is made", async () => {
    const { session } = await ownOf(ann)
    const plain = (text: string, id: string) => text.replaceAll(id, 'the-id').replace(/req_\w+/, 'req')
    const create = async (id: string) => plain((await ann('POST', `${api}/sessions`, { session_id: id })).text, id)
    expect(await create(bob.session)).toBe(await create(session))
    const start = async (id: string) =>
      plain((await ann('POST', `${api}/agents/echo/run`, { ...run, session_id: id })).text, id)
    expect(await start(bob.session)).toBe(await start('free'))
    const body = toMessage('sendMessage', { messageId: 'm', contextId: bob.session })
    const { error } = (await ann('POST', `${api}/a2a/sendMessage`, body)).json
    expect(error.message).toBe(
      (await ann('POST', `${api}/agents/echo/run`, { ...run, session_id: bob.session })).json.error.message,
    )
  })

  test('an operator sees on each route what the users do not', async () => {
    const { operator } = people
    for (const { operationId, method, path } of operations) {
      if (method !== 'GET' || !/\/(?:runs|sessions)\/\{id\}/.test(path)) continue
      const id = path.includes('/runs/{id}') ? bob.run : bob.session
      expect([
        operationId,
        (await operator('GET', path.replace('{id}', id).replace('{file_id}', bob.file))).status,
        // What is bob's is seen, and refused for what it is.
      ]).toEqual([operationId, operationId === 'getSessionTest' ? 400 : 200])
    }
  })
})
