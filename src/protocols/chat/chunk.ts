import type { Json, JsonObject } from '../../core/json.ts'

interface CallChunk {
  toolCallId: string
}
interface NamedCallChunk extends CallChunk {
  toolName: string
}

/** Of what a page may know about the run: the chunks `start`, `finish` and `message-metadata` add to it. */
export interface ChatMetadata {
  runId?: string
  sessionId?: string
  agentId?: string
  createdAt?: string
  /** Why the message ends: that of the run. */
  status?: string
  usage?: JsonObject
  cacheHit?: boolean
  completedAt?: string
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls'

/** About the source of a part, in the form of the AI SDK. */
export interface ProviderMetadata {
  agentserve: JsonObject
}

interface DocumentSource {
  type: 'source-document'
  sourceId: string
  mediaType: string
  title: string
  filename: string
  providerMetadata: ProviderMetadata
}
interface UrlSource {
  type: 'source-url'
  sourceId: string
  url: string
  title: string
  providerMetadata: ProviderMetadata
}

/** The chunks of the AI SDK's UI message stream that `useChat` of ai 5, 6 and 7 knows. One that it does not know ends the chat. */
export type ChatChunk =
  | { type: 'start'; messageId: string; messageMetadata?: ChatMetadata }
  | { type: 'start-step' | 'finish-step' }
  | { type: 'finish'; finishReason: FinishReason; messageMetadata: ChatMetadata }
  | { type: 'message-metadata'; messageMetadata: ChatMetadata }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | ({ type: 'tool-input-start' } & NamedCallChunk)
  | ({ type: 'tool-input-delta'; inputTextDelta: string } & CallChunk)
  | ({ type: 'tool-input-available'; input: Json } & NamedCallChunk)
  | ({ type: 'tool-input-error'; input: Json; errorText: string } & NamedCallChunk)
  | ({ type: 'tool-output-available'; output: Json; preliminary?: true } & CallChunk)
  | ({ type: 'tool-output-error'; errorText: string } & CallChunk)
  /** From here to `tool-approval-response`: not in ai 5. */
  | ({ type: 'tool-output-denied' } & CallChunk)
  | ({ type: 'tool-approval-request'; approvalId: string } & CallChunk)
  /** For the reload only: ai 6 does not know it. */
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | DocumentSource
  | UrlSource
  | { type: 'file'; url: string; mediaType: string; providerMetadata?: ProviderMetadata }
  | { type: `data-${string}`; id?: string; data: Json; transient?: true }
  | { type: 'abort'; reason: string }
  | { type: 'error'; errorText: string }

export const doneFrame = 'data: [DONE]\n\n'

/** The chunk as a server-sent event. Deltas are put together by hand, because a run has thousands of them. */
export function encodeChunk(chunk: ChatChunk): string {
  if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') {
    return `data: {"type":"${chunk.type}","id":"${chunk.id}","delta":${JSON.stringify(chunk.delta)}}\n\n`
  }
  return chunk.type === 'tool-approval-response' ? '' : `data: ${JSON.stringify(chunk)}\n\n`
}
