/* How each server of the benchmark is asked for a run, and how one tells that its answer is right. */

export type Dialect =
  | 'agentserve'
  | 'sdk'
  | 'rest'
  | 'search'
  | 'chat'
  | 'ag-ui'
  | 'completions'
  | 'responses'
  | 'mcp'
  | 'official'
  | 'official-0.3'
  | 'official-http'
export type Method = 'send' | 'stream'

export interface Ask {
  dialect: Dialect
  method: Method
  /** For `mcp`: the tool. */
  agentId: string
  /** For `mcp`: the arguments of the tool, as JSON. */
  text: string
}

interface Way {
  path(ask: Ask): string
  /** Besides the type and the length of the body. */
  headers?: Record<string, string>
  body(ask: Ask, messageId: string, contextId: string | undefined): object
  isRight(body: string, method: Method): boolean
}

/** A protocol that is measured is a row. */
const ways: Record<Dialect, Way> = {
  agentserve: {
    path: ({ method }) => `/api/v1/a2a/${method}Message`,
    body: ({ method, agentId, text }, messageId, contextId) => {
      const message = {
        messageId,
        role: 'user',
        agentId,
        ...context(contextId),
        parts: [{ type: 'text', content: text }],
      }
      return { jsonrpc: '2.0', method: `${method}Message`, id: messageId, params: { message } }
    },
    isRight: (body, method) =>
      method === 'send'
        ? body.includes('"status":"completed"') && !body.includes('"error":')
        : body.includes('data: {"type":"done"}') && !body.includes('data: {"type":"error"'),
  },
  sdk: { path: () => '/', body: officialBody, isRight: isCompleted },
  official: { path: ({ agentId }) => `/api/v1/a2a/agents/${agentId}`, body: officialBody, isRight: isCompleted },
  'official-0.3': {
    path: ({ agentId }) => `/api/v1/a2a/agents/${agentId}`,
    body: ({ method, text }, messageId, contextId) => {
      const parts = [{ kind: 'text', text }]
      const message = { kind: 'message', messageId, role: 'user', ...context(contextId), parts }
      return { jsonrpc: '2.0', method: `message/${method}`, id: messageId, params: { message } }
    },
    isRight: (body) => body.includes('"state":"completed"'),
  },
  'official-http': {
    path: ({ agentId, method }) => `/api/v1/a2a/agents/${agentId}/message:${method}`,
    body: (ask, messageId, contextId) => officialBody(ask, messageId, contextId).params,
    isRight: isCompleted,
  },
  rest: {
    path: ({ agentId, method }) => `/api/v1/agents/${agentId}/run${method === 'send' ? '' : '/stream'}`,
    body: ({ text }, _messageId, session_id) => ({ input: text, ...(session_id !== undefined && { session_id }) }),
    isRight: (body) => body.includes('"status":"completed"'),
  },
  /** Streams only. */
  chat: {
    path: ({ agentId }) => `/api/v1/chat/${agentId}`,
    body: ({ text }, messageId, contextId) => {
      const message = { id: messageId, role: 'user', parts: [{ type: 'text', text }] }
      return { id: contextId ?? messageId, messages: [message], trigger: 'submit-message' }
    },
    isRight: (body) => body.includes('"finishReason":"stop"') && body.includes('data: [DONE]'),
  },
  /** Streams only. */
  'ag-ui': {
    path: ({ agentId }) => `/api/v1/ag-ui/${agentId}`,
    body: ({ text }, messageId, contextId) => {
      const messages = [{ id: messageId, role: 'user', content: text }]
      return { threadId: contextId ?? messageId, runId: messageId, protocolVersion: '1.0', messages }
    },
    isRight: (body) => body.includes('"outcome":{"type":"success"}'),
  },
  /** Streams only. A session with a name, as Open WebUI has: the record is the history. */
  completions: {
    path: () => '/v1/chat/completions',
    body: ({ agentId, text }, _messageId, contextId) => {
      const session = contextId !== undefined && { metadata: { session_id: contextId } }
      return { model: agentId, messages: [{ role: 'user', content: text }], stream: true, ...session }
    },
    isRight: (body) => body.includes('"finish_reason":"stop"') && body.includes('data: [DONE]'),
  },
  /** Streams only. */
  responses: {
    path: () => '/v1/responses',
    body: ({ agentId, text }, _messageId, contextId) => {
      const session = contextId !== undefined && { conversation: contextId }
      return { model: agentId, input: text, stream: true, ...session }
    },
    isRight: (body) => body.includes('event: response.completed'),
  },
  /** As most hosts call a tool: in the way of before 2026-07-28. */
  mcp: {
    path: () => '/mcp',
    headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25' },
    body: ({ agentId, text }, messageId, contextId) => {
      const session = contextId !== undefined && { session_id: contextId }
      const params = { name: agentId, arguments: { ...(JSON.parse(text) as object), ...session } }
      return { jsonrpc: '2.0', id: messageId, method: 'tools/call', params }
    },
    isRight: (body) => body.includes('"result":') && !body.includes('"isError":true'),
  },
  search: {
    path: () => '/api/v1/knowledge/search',
    body: ({ text }) => JSON.parse(text) as object,
    isRight: (body) => body.includes('"results":['),
  },
}

/** A2A 1.0 over JSON-RPC. */
function officialBody({ method, text }: Ask, messageId: string, contextId: string | undefined) {
  const message = { messageId, role: 'ROLE_USER', ...context(contextId), parts: [{ text }] }
  const name = method === 'send' ? 'SendMessage' : 'SendStreamingMessage'
  return { jsonrpc: '2.0', method: name, id: messageId, params: { message } }
}

function isCompleted(body: string): boolean {
  return body.includes('"TASK_STATE_COMPLETED"')
}

function context(contextId: string | undefined): { contextId?: string } {
  return contextId === undefined ? {} : { contextId }
}

export function pathOf(ask: Ask): string {
  return ways[ask.dialect].path(ask)
}

export function headersOf(ask: Ask): Record<string, string> {
  return ways[ask.dialect].headers ?? {}
}

/** Ids have to be unique: the same message again is no new run. */
export function bodyOf(ask: Ask, messageId: string, contextId: string | undefined): string {
  return JSON.stringify(ways[ask.dialect].body(ask, messageId, contextId))
}

/** Whether the run completed, and for a stream, whether it was told to the end. */
export function isRight({ dialect, method }: Ask, status: number, body: string): boolean {
  return status === 200 && ways[dialect].isRight(body, method)
}
