import { answer, runId } from './shared-values.ts'

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
const chatMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello there' }] }
const officialMessage = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello there' }] } }

/** Of the shapes of A2A, MCP, the AI SDK's chat and AG-UI. */
export const protocolExamples: Record<string, unknown> = {
  JSONRPC2Request: { jsonrpc: '2.0', method: 'sendMessage', id: '1', params: { message } },
  JSONRPC2Response: { jsonrpc: '2.0', id: '1', result: { task } },
  JSONRPC2Failure: { jsonrpc: '2.0', id: '1', error: { code: -32602, message: 'agent not found: nobody' } },
  A2AStreamEvent: { type: 'content', content: 'Hello ' },
  A2ARpcRequest: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: officialMessage },
  A2ASendRequest: officialMessage,
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
  ChatStop: {},
  ChatStopped: { success: true },
  ChatHistory: { id: 'demo-chat', messages: [chatMessage], activeRunId: null, has_more: false },
  AgUiInput: {
    threadId: 'demo-thread',
    runId: 'demo-run-1',
    protocolVersion: '1.0',
    messages: [{ id: 'u1', role: 'user', content: 'hello there' }],
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
  },
  AgUiEvent: { type: 'TEXT_MESSAGE_CONTENT', messageId: 'msg_01kcz6t8d3m0x4zv_3', delta: 'hello ' },
}
