import type { Json, JsonObject } from '../../core/json.ts'
import { encodeData } from '../../core/sse.ts'

/** The version of AG-UI that is spoken here. */
const protocolVersion = '1.0'

export interface AgUiUsage {
  model?: string
  inputTokens: number
  outputTokens: number
  totalTokens: number
  reasoningTokens?: number
  cachedInputTokens?: number
  cacheWriteInputTokens?: number
}

export interface Interrupt {
  id: string
  reason: 'tool_call' | 'confirmation' | 'input_required'
  message: string
  toolCallId?: string
  responseSchema?: JsonObject
  metadata: JsonObject
}

export type Outcome =
  | { type: 'success'; pendingToolCallIds?: string[] }
  | { type: 'interrupt'; interrupts: Interrupt[] }
  /** Older clients than 1.0 fail at it. */
  | { type: 'cancelled' }

export interface ToolCallOfMessage {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

interface MediaPart {
  type: 'image' | 'audio' | 'video' | 'document'
  source: { type: 'url'; value: string; mimeType: string }
  metadata?: { filename: string }
}
export type ContentPart = { type: 'text'; text: string } | MediaPart

export type AgUiMessage =
  | { id: string; role: 'user'; content: string | ContentPart[] }
  | { id: string; role: 'assistant'; content?: string; toolCalls?: ToolCallOfMessage[] }
  | { id: string; role: 'tool'; toolCallId: string; content: string }
  | { id: string; role: 'reasoning'; content: string }

/**
 * The events that both 0.0.59 and 1.0 know: one of another type is fatal to the older client, and so is null in a field that
 * may be left out to the newer one.
 */
export type AgUiEvent =
  | { type: 'RUN_STARTED'; threadId: string; runId: string; protocolVersion: string }
  | { type: 'RUN_FINISHED'; threadId: string; runId: string; outcome: Outcome; result?: Json; usage?: AgUiUsage[] }
  | { type: 'RUN_ERROR'; message: string; code: string; usage?: AgUiUsage[] }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' }
  | { type: 'TEXT_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TEXT_MESSAGE_END'; messageId: string }
  | { type: 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END'; messageId: string }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | { type: 'TOOL_CALL_RESULT'; messageId: string; toolCallId: string; content: string; role: 'tool' }
  | { type: 'STATE_SNAPSHOT'; snapshot: JsonObject }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiMessage[] }
  | { type: 'STEP_STARTED' | 'STEP_FINISHED'; stepName: string }
  | { type: 'SUBAGENT_STARTED'; subagentRunId: string; name: string; parentSubagentRunId?: string }
  | {
      type: 'SUBAGENT_FINISHED'
      subagentRunId: string
      outcome: { type: 'success' } | { type: 'suspended'; interruptIds?: string[] }
      result?: Json
    }
  | { type: 'SUBAGENT_ERROR'; subagentRunId: string; message: string }
  | { type: 'CUSTOM'; name: `agentserve.${string}`; value: Json }

export const none: readonly AgUiEvent[] = []

export function encodeEvents(events: readonly AgUiEvent[]): string {
  let frames = ''
  for (const event of events) frames += encodeData(event)
  return frames
}

/** Under which names a client knows the thread and its run. */
export interface Named {
  threadId: string
  runId: string
}

export function started(named: Named): AgUiEvent {
  return { type: 'RUN_STARTED', threadId: named.threadId, runId: named.runId, protocolVersion }
}
