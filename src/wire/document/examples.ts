/*
 * One example per named shape that a client writes or reads as a whole. A test checks each example against its shape.
 */

import { chunkId, documentId, knowledgeExamples, passage, question } from './knowledge-examples.ts'
import { openaiExamples } from './openai-examples.ts'
import { scheduleExamples } from './schedule-examples.ts'

const at = '2026-01-05T09:30:00.000Z'
const later = '2026-01-05T09:30:02.410Z'
const sessionId = 'ses_01kcz6t8d0m0x4zq'
const runId = 'run_01kcz6t8d1m0x4zr'
const usage = { input_tokens: 412, output_tokens: 38, total_tokens: 450 }
const cost = { usd: 0, as_of: null, local: true }
const answer = 'At most 10 MB [1].'

const run = {
  run_id: runId,
  session_id: sessionId,
  parent_run_id: null,
  entity_id: 'docs',
  entity_kind: 'agent',
  status: 'completed',
  created_at: at,
  started_at: at,
  completed_at: later,
  cancellation_reason: null,
  error: null,
  cache_hit: false,
  usage,
  cost,
  waiting: [],
  replaced_by: null,
  again_of: null,
}
const openaiModel = { id: 'docs', object: 'model', created: 1767605400, owned_by: 'agentserve' }
const sessionHead = {
  session_id: sessionId,
  name: null,
  title: question,
  entity_id: 'docs',
  entity_kind: 'agent',
  user_id: 'ann',
  run_count: 1,
  status: 'completed',
  waiting: 0,
  usage,
  usage_by_model: [{ model: 'openai/gpt-5.2', ...usage }],
  cost: { usd: 0.001253, as_of: '2026-09-23' },
  forked_from: null,
  created_at: at,
  updated_at: later,
}
const messages = [
  {
    message_id: 'msg_01kcz6t8d2m0x4zu',
    run_id: runId,
    role: 'user',
    parts: [{ type: 'text', text: question }],
    content: question,
    created_at: at,
  },
  {
    message_id: 'msg_01kcz6t8d3m0x4zv',
    run_id: runId,
    role: 'assistant',
    parts: [{ type: 'text', text: answer }],
    content: answer,
    created_at: later,
  },
]
const hit = {
  session_id: sessionId,
  run_id: runId,
  message_id: 'msg_01kcz6t8d2m0x4zu',
  entity_id: 'docs',
  role: 'user',
  created_at: at,
  snippet: question,
}
const source = {
  type: 'source',
  index: 1,
  source: 'docs/configuration.md',
  document_id: documentId,
  chunk_id: chunkId,
  line_start: 88,
  line_end: 91,
  cited: true,
}
const result = {
  run_id: runId,
  session_id: sessionId,
  parent_run_id: null,
  agent_id: 'docs',
  status: 'completed',
  content: answer,
  messages,
  sources: [source],
  usage,
  cost,
  cache_hit: false,
  waiting: [],
  replaced_by: null,
  again_of: null,
  metadata: null,
  created_at: at,
  completed_at: later,
}
const summary = {
  session_id: sessionId,
  content: 'The limit on the size of a request was asked for: 10 MB.',
  model: 'offline',
  run_count: 1,
  message_count: 2,
  created_at: later,
}
const session = {
  session_id: sessionId,
  agent_id: 'docs',
  team_id: null,
  workflow_id: null,
  user_id: 'ann',
  name: 'Limits',
  metadata: { ticket: 4711 },
  state: null,
  shared_with: { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] },
  run_count: 1,
  runs: [run],
  summary: null,
  created_at: at,
  updated_at: later,
}
const agent = {
  id: 'docs',
  kind: 'agent',
  name: null,
  description: 'Answers from the documentation.',
  model: 'offline',
  tools: [],
  knowledge: true,
  streaming: true,
}
const message = {
  messageId: 'm-1',
  role: 'user',
  agentId: 'echo',
  contextId: 'support-4711',
  parts: [{ type: 'text', content: 'Hello there' }],
}
const task = {
  taskId: runId,
  status: 'completed',
  messages: [{ ...message, messageId: 'msg_01kcz6t8d3m0x4zv', role: 'assistant' }],
}

const completion = { id: 'chatcmpl-01kcz6t8d3m0x4zv', created: 1_790_000_000, model: 'docs' }
const fact = {
  fact_id: 'fact_3Gv0wXqk9L2a',
  content: 'Prefers tea to coffee.',
  agent_id: 'helper',
  run_id: runId,
  created_at: at,
}

const chatMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello there' }] }
const officialMessage = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello there' }] } }

const testResult = {
  name: 'test/request-size',
  passed: true,
  flaky: false,
  passes: 1,
  times: 1,
  score: null,
  score_by_scorer: {},
  usage,
  cost: null,
  duration_ms: 41,
}

export const examples: Readonly<Record<string, unknown>> = {
  CreateSessionRequest: { agent_id: 'echo', user_id: 'ann', name: 'Limits', metadata: { ticket: 4711 } },
  UpdateSessionRequest: { name: 'Limits of requests', metadata: null },
  ReuseSessionRequest: { agent_id: 'echo' },
  Session: session,
  SessionHeadList: { sessions: [sessionHead], count: 1, next_cursor: null, total: 1 },
  SessionList: { sessions: [session], count: 1, next_cursor: null },
  ForkSessionRequest: { session_id: 'limits-again' },
  PruneSessionsRequest: { updated_before: at, agent_id: 'docs' },
  SessionsPruned: { deleted: 12, has_more: false },
  SessionCopyLine: { type: 'end', runs: 1, events: 5 },
  UserCopyLine: { type: 'user_end', sessions: 1, runs: 2, facts: 1 },
  FactList: { facts: [fact], count: 1 },
  FactsDeleted: { user_id: 'ann', deleted: 3 },
  SessionDeleted: { session_id: sessionId, deleted: true },
  Summary: summary,
  SummaryAnswer: { summary },
  SummaryScheduled: { status: 'scheduled', session_id: sessionId },
  History: { session_id: sessionId, messages, runs: [run], summary: null, has_more: false },
  MessageHitList: { messages: [hit], count: 1, next_cursor: null },
  RunRequest: { input: question },
  RunForm: { request: { input: question }, file: ['The first lines of a file.'] },
  RunResult: result,
  RunDetail: {
    ...result,
    entity_id: 'docs',
    entity_kind: 'agent',
    started_at: at,
    cancellation_reason: null,
    error: null,
    truncated: false,
  },
  Run: run,
  RunTrace: {
    run_id: runId,
    session_id: sessionId,
    parent_run_id: null,
    entity_id: 'docs',
    entity_kind: 'agent',
    status: 'completed',
    child_run_ids: [],
    retrievals: [],
    calls: [
      {
        call_id: 'call_01kcz6t8d5m0x4zx',
        model: 'ollama/qwen3:8b',
        seq: 4,
        at,
        messages: [
          { role: 'system', content: 'Answer from the passages; cite them.' },
          { role: 'user', content: [{ type: 'text', text: question }] },
        ],
        tools: null,
        settings: { temperature: 0.2 },
        retrievals: [
          {
            query: question,
            collection: 'default',
            mode: 'hybrid',
            limit: 6,
            words: ['large', 'may', 'request', 'be'],
            duration_ms: 3.4,
            passages: [{ ...passage, index: 1 }],
          },
        ],
        text: answer,
        reasoning: '',
        tool_calls: [],
        finish_reason: 'stop',
        usage,
        cost,
        duration_ms: 2380,
        first_text_ms: 410,
      },
    ],
    count: 1,
    next_cursor: null,
  },
  RunAccepted: { run_id: runId, session_id: sessionId, status: 'running' },
  RunList: { runs: [run], count: 1, next_cursor: null },
  SessionHead: sessionHead,
  LiveEvent: { type: 'session', head: sessionHead },
  RunEvent: { type: 'text_delta', run_id: runId, seq: 5, at, text: 'At most ' },
  AgainRequest: { edit: { input: 'How large may an answer be?' }, after: 'live' },
  AgainStarted: { runs: [{ run_id: 'run_01kcz6t8d9m0x501', session_id: sessionId }] },
  CancelRequest: { reason: 'The question has changed.' },
  ResumeRequest: { answers: { call_1: { approved: true }, call_2: { approved: false, reason: 'not on Fridays' } } },
  Agent: agent,
  AgentConfig: {
    instructions: 'Answer from the passages; cite them.',
    tools: [
      {
        name: 'weather',
        description: 'Tells the weather.',
        input_schema: { type: 'object', properties: { city: { type: 'string' } } },
        approval: 'never',
      },
    ],
    knowledge: { mode: 'first', limit: 6, filters: null, collection: null },
    memory: { runs: 20, tokens: null, summary: true, user: false },
    output_schema: null,
    guardrails: { input: [], output: ['noPrices'] },
    fallback_models: ['ollama/qwen3:8b'],
    hooks: ['modelCall'],
    members: [],
    mode: null,
    input_schema: null,
    source: { file: 'agent.config.ts', line: null },
    version: null,
  },
  AgentList: { agents: [agent], count: 1 },
  ...knowledgeExamples,
  SavedTest: {
    agentserve: 'session-test/1',
    entity: 'docs',
    tools: 'recorded',
    turns: [
      {
        input: [{ type: 'text', text: question }],
        model_calls: [{ prompt_hash: 'q0m3Yb1f2cX9sKp7Vd5nTw', text: answer, finish_reason: 'stop', usage }],
        expect: { status: 'completed', content: answer, tool_calls: [] },
      },
    ],
  },
  SaveTestRequest: { session_id: sessionId, name: 'request-size' },
  ProjectTest: { name: 'test/request-size', entity: 'docs', turns: 1, problem: null },
  ProjectTestList: { tests: [{ name: 'test/request-size', entity: 'docs', turns: 1, problem: null }] },
  RunTestsRequest: { names: ['test/request-size'] },
  TestEvent: {
    type: 'result',
    differences: [],
    notes: [],
    problem: null,
    updated: false,
    scores: [],
    judge_usage: null,
    ...testResult,
  },
  KeptTestRuns: {
    runs: [{ at, mode: 'replay', commit: '3f0c1a9be2d4', changed: false, results: [testResult] }],
  },
  Me: {
    user_id: 'ann',
    key_id: 'ann-laptop',
    scopes: ['run', 'sessions', 'knowledge:read'],
    can: { again: false, tests: false, config: false, knowledge: false, prompts: false },
    mode: 'start',
    version: '0.1.0',
    server_id: 'srv_01kcz6t8d6m0x4zy',
  },
  Health: { status: 'ok', service: 'agentserve', version: '0.1.0', started_at: at, uptime_seconds: 2.41 },
  Readiness: { status: 'ready', checks: { storage: 'ok', knowledge: 'ok' } },
  Error: {
    error: { code: 'session_not_found', message: `There is no session '${sessionId}'.` },
    request_id: 'req_01kcz6t8d4m0x4zw',
  },
  JSONRPC2Request: { jsonrpc: '2.0', method: 'sendMessage', id: '1', params: { message } },
  JSONRPC2Response: { jsonrpc: '2.0', id: '1', result: { task } },
  JSONRPC2Failure: { jsonrpc: '2.0', id: '1', error: { code: -32602, message: 'agent not found: nobody' } },
  A2AStreamEvent: { type: 'content', content: 'Hello ' },
  A2ARpcRequest: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: officialMessage },
  A2ASendRequest: officialMessage,
  OpenAIModel: openaiModel,
  OpenAIModels: { object: 'list', data: [openaiModel] },
  OpenAIErrorBody: {
    error: {
      message: "There is no agent, team or workflow 'other'.",
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  },
  McpRequest: {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'ask_echo', arguments: { message: 'hello' }, _meta: { progressToken: 'ask-1' } },
  },
  McpMessage: { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: answer }] } },
  McpFailure: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Unknown tool: ask_nobody' } },
  ChatRequest: { id: 'demo-chat', messages: [chatMessage], trigger: 'submit-message' },
  ChatChunk: { type: 'text-delta', id: '0', delta: 'Hello ' },
  ChatCompletionRequest: { model: 'docs', messages: [{ role: 'user', content: 'hello there' }] },
  ChatCompletion: {
    ...completion,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    agentserve: { run_id: runId, session_id: sessionId, sources: [] },
  },
  ChatCompletionChunk: {
    ...completion,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null, logprobs: null }],
  },
  ...openaiExamples,
  ...scheduleExamples,
  ChatStop: {},
  ChatStopped: { success: true },
  ChatHistory: { id: 'demo-chat', messages: [chatMessage], activeRunId: null, has_more: false },
}
