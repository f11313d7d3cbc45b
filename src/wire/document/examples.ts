/*
 * One example per named shape that a client writes or reads as a whole. A test checks each example against its shape.
 */

const at = '2026-01-05T09:30:00.000Z'
const later = '2026-01-05T09:30:02.410Z'
const sessionId = 'ses_01kcz6t8d0m0x4zq'
const runId = 'run_01kcz6t8d1m0x4zr'
const documentId = 'doc_01kcz6s0a2m0x4zs'
const chunkId = 'chk_01kcz6s0a3m0x4zt'
const usage = { input_tokens: 412, output_tokens: 38, total_tokens: 450 }
const question = 'How large may a request be?'
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
  cache_hit: false,
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
const document = {
  document_id: documentId,
  source: 'docs/configuration.md',
  name: 'configuration.md',
  media_type: 'text/markdown',
  metadata: { product: 'agentserve' },
  reader_metadata: { chunk_size: 1000, chunk_overlap: 100 },
  content_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  chunk_count: 14,
  chunk_size: 1000,
  chunk_overlap: 100,
  chunker_type: 'markdown',
  collection: 'default',
  created_at: at,
  updated_at: at,
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

export const examples: Readonly<Record<string, unknown>> = {
  CreateSessionRequest: { agent_id: 'echo', user_id: 'ann', name: 'Limits', metadata: { ticket: 4711 } },
  UpdateSessionRequest: { name: 'Limits of requests', metadata: null },
  ReuseSessionRequest: { agent_id: 'echo' },
  Session: session,
  SessionList: { sessions: [session], count: 1, next_cursor: null },
  ForkSessionRequest: { session_id: 'limits-again' },
  PruneSessionsRequest: { updated_before: at, agent_id: 'docs' },
  SessionsPruned: { deleted: 12, has_more: false },
  SessionCopyLine: { type: 'end', runs: 1, events: 5 },
  UserCopyLine: { type: 'user_end', sessions: 1, runs: 2 },
  SessionDeleted: { session_id: sessionId, deleted: true },
  Summary: summary,
  SummaryAnswer: { summary },
  SummaryScheduled: { status: 'scheduled', session_id: sessionId },
  History: { session_id: sessionId, messages, runs: [run], summary: null, has_more: false },
  MessageHitList: { messages: [hit], count: 1, next_cursor: null },
  RunRequest: { input: question },
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
            passages: [
              {
                chunk_id: chunkId,
                source: 'docs/configuration.md',
                score: 0.91,
                index: 1,
                document_id: documentId,
                line_start: 88,
                line_end: 91,
              },
            ],
          },
        ],
        text: answer,
        reasoning: '',
        tool_calls: [],
        finish_reason: 'stop',
        usage,
        duration_ms: 2380,
      },
    ],
    count: 1,
    next_cursor: null,
  },
  RunAccepted: { run_id: runId, session_id: sessionId, status: 'running' },
  RunList: { runs: [run], count: 1, next_cursor: null },
  RunEvent: { type: 'text_delta', run_id: runId, seq: 5, at, text: 'At most ' },
  CancelRequest: { reason: 'The question has changed.' },
  ResumeRequest: { answers: { call_1: { approved: true }, call_2: { approved: false, reason: 'not on Fridays' } } },
  Agent: agent,
  AgentList: { agents: [agent], count: 1 },
  SearchRequest: { query: question, limit: 5, filters: { product: ['agentserve'] } },
  SearchAnswer: {
    results: [
      {
        chunk_id: chunkId,
        document_id: documentId,
        content: '`server.maxRequestSize` is 10 MB by default.',
        score: 0.91,
        source: 'docs/configuration.md',
        metadata: { product: 'agentserve' },
        chunk_index: 3,
        chunk_size: 1000,
        chunk_overlap: 100,
        chunker_type: 'markdown',
        start_offset: 2910,
        end_offset: 2955,
        line_start: 88,
        line_end: 91,
      },
    ],
    count: 1,
    mode: 'hybrid',
  },
  ContentRequest: {
    content: '# Limits\n\nA request may have 10 MB.\n',
    source: 'notes/limits.md',
    metadata: { product: 'agentserve' },
    chunker_type: 'markdown',
  },
  ContentForm: { file: 'A request may have 10 MB.', source: 'notes/limits.txt', metadata: '{"product":"agentserve"}' },
  IngestAnswer: {
    document_id: documentId,
    chunk_ids: [chunkId],
    chunk_count: 1,
    chunker_type: 'markdown',
    chunk_size: 1000,
    chunk_overlap: 100,
    collection: 'default',
    replaced: false,
    unchanged: false,
  },
  ManyRequest: {
    documents: [
      { source: 'notes/limits.md', content: '# Limits\n\nA request may have 10 MB.\n', media_type: 'text/markdown' },
      { source: 'notes/times.md', content_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    ],
  },
  ManyAnswer: {
    results: [
      { source: 'notes/limits.md', outcome: 'added', document_id: documentId, chunk_count: 1 },
      { source: 'notes/times.md', outcome: 'needed', document_id: null, chunk_count: 0 },
    ],
    count: 2,
  },
  Document: document,
  DocumentList: { documents: [document], count: 1, next_cursor: null },
  DocumentDeleted: { document_id: documentId, deleted: true },
  KnowledgeConfig: {
    available_chunkers: [
      {
        name: 'markdown',
        description: 'Markdown by headings, code blocks and tables whole.',
        default_chunk_size: 1000,
        default_chunk_overlap: 100,
      },
    ],
    default_chunker: 'markdown',
    available_vector_dbs: ['lancedb', 'memory'],
    vector_db: { type: 'lancedb', collection: 'default' },
    embedding_model: { provider: 'lexical', model: 'lexical', dimensions: 1024 },
    readers: [{ name: 'markdown', media_types: ['text/markdown'], extensions: ['.md'] }],
    features: { search: true, content: true, documents: true },
    limits: { max_chunk_size: 20000, max_search_limit: 100, max_context: 5, max_request_bytes: 10485760 },
    collection: 'default',
  },
  KnowledgeStatus: {
    collection: 'default',
    documents: 12,
    chunks: 168,
    vectors: 168,
    embedding_model: { provider: 'lexical', model: 'lexical', dimensions: 1024 },
    pending: 0,
  },
  ReindexRequest: { embedder: 'lexical' },
  ReindexEvent: { type: 'progress', step: 'embed', done: 500, total: 1200 },
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
}
