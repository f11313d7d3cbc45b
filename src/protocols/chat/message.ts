import type { Json, JsonObject } from '../../core/json.ts'
import type { Message, Part } from '../../core/message.ts'
import { addressOf, type FileAddress } from '../kept-file.ts'
import type { ChatChunk, ChatMetadata } from './chunk.ts'

/** A message of `useChat`. */
export interface ChatMessage {
  id: string
  role: 'user' | 'assistant'
  metadata?: ChatMetadata
  parts: ChatPart[]
}
export type ChatPart = { type: string } & JsonObject

interface Approval {
  id: string
  approved?: boolean
  reason?: string
}

/** The message that a client builds from the chunks, in the states that its validation accepts. */
export class MessageFold {
  readonly #parts: ChatPart[] = []
  /** Open blocks, tool calls and data, by id. */
  readonly #texts = new Map<string, ChatPart & { text: string }>()
  readonly #calls = new Map<string, { part: ChatPart; step: number }>()
  readonly #data = new Map<string, ChatPart>()
  #step = 0
  #id = ''
  #metadata: ChatMetadata = {}

  /** The message without an end of its stream: an error is no part of it. */
  message(): ChatMessage {
    return { id: this.#id, role: 'assistant', metadata: this.#metadata, parts: this.#parts }
  }

  add(chunk: ChatChunk): void {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#texts.get(chunk.id)
        if (part !== undefined) part.text += chunk.delta
        return
      }
      case 'text-start':
      case 'reasoning-start': {
        const kind = chunk.type === 'text-start' ? { type: 'text' } : { type: 'reasoning', id: chunk.id }
        const part = { ...kind, text: '', state: 'streaming' }
        this.#texts.set(chunk.id, part)
        this.#parts.push(part)
        return
      }
      case 'text-end':
      case 'reasoning-end':
        Object.assign(this.#texts.get(chunk.id) ?? {}, { state: 'done' })
        return
      case 'start':
        this.#id = chunk.messageId
        this.#metadata = { ...this.#metadata, ...chunk.messageMetadata }
        return
      case 'finish':
      case 'message-metadata':
        this.#metadata = { ...this.#metadata, ...chunk.messageMetadata }
        return
      case 'start-step':
        this.#step++
        this.#parts.push({ type: 'step-start' })
        return
      case 'finish-step':
      case 'abort':
      case 'error':
        return
      case 'source-document':
      case 'source-url':
      case 'file':
        this.#parts.push(chunk as unknown as ChatPart)
        return
      default:
        if (isDataChunk(chunk)) this.#addData(chunk)
        else this.#addToCall(chunk)
    }
  }

  #addData(chunk: Extract<ChatChunk, { data: Json }>): void {
    if (chunk.transient) return
    const known = chunk.id === undefined ? undefined : this.#data.get(`${chunk.type} ${chunk.id}`)
    if (known !== undefined) {
      known.data = chunk.data
      return
    }
    const part: ChatPart = { type: chunk.type, ...(chunk.id !== undefined && { id: chunk.id }), data: chunk.data }
    if (chunk.id !== undefined) this.#data.set(`${chunk.type} ${chunk.id}`, part)
    this.#parts.push(part)
  }

  #addToCall(chunk: CallChunk): void {
    const id = 'toolCallId' in chunk ? chunk.toolCallId : chunk.approvalId
    const part = 'toolName' in chunk ? this.#callPart(id, chunk.toolName) : this.#calls.get(id)?.part
    if (part === undefined) return
    switch (chunk.type) {
      case 'tool-input-start':
        part.state = 'input-streaming'
        return
      case 'tool-input-delta':
        return
      case 'tool-input-available':
        Object.assign(part, { state: 'input-available', input: chunk.input })
        return
      case 'tool-input-error':
        Object.assign(part, { state: 'output-error', input: chunk.input, errorText: chunk.errorText })
        return
      case 'tool-approval-request':
        Object.assign(part, { state: 'approval-requested', approval: { id: chunk.approvalId } })
        return
      case 'tool-approval-response': {
        const { approvalId, approved, reason } = chunk
        const approval: Approval = { id: approvalId, approved, ...(reason !== undefined && { reason }) }
        Object.assign(part, { state: 'approval-responded', approval })
        return
      }
      case 'tool-output-available':
        Object.assign(part, { state: 'output-available', output: chunk.output })
        if (chunk.preliminary) part.preliminary = true
        else delete part.preliminary
        break
      case 'tool-output-error':
        delete part.output
        delete part.preliminary
        Object.assign(part, { state: 'output-error', errorText: chunk.errorText })
        break
      case 'tool-output-denied':
        part.state = 'output-denied'
        break
    }
    if (part.approval !== undefined) {
      Object.assign(part.approval as object, { approved: chunk.type !== 'tool-output-denied' })
    }
  }

  /** As clients do: a call that comes again in a later step is another part. */
  #callPart(id: string, name: string): ChatPart {
    const known = this.#calls.get(id)
    if (known?.step === this.#step) return known.part
    const part: ChatPart = { type: `tool-${name}`, toolCallId: id }
    this.#calls.set(id, { part, step: this.#step })
    this.#parts.push(part)
    return part
  }
}

type CallChunk = Extract<ChatChunk, { toolCallId: string } | { approvalId: string }>

function isDataChunk(chunk: ChatChunk): chunk is Extract<ChatChunk, { data: Json }> {
  return chunk.type.startsWith('data-')
}

/** The input of a run as the message that the page posted. */
export function userMessage(
  { message_id, run_id, parts, created_at }: Message,
  toPart: (part: Part) => ChatPart,
): ChatMessage {
  const shown = parts.map(toPart)
  return {
    id: message_id,
    role: 'user',
    metadata: { runId: run_id, createdAt: created_at },
    // The clients refuse a message without parts.
    parts: shown.length === 0 ? [{ type: 'text', text: '' }] : shown,
  }
}

export function userPart(part: Part, sessionId: string, fileAddress: FileAddress): ChatPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'data') return dataPart(part.data)
  const { media_type: mediaType, name } = part
  const url = addressOf(part, sessionId, fileAddress) ?? ''
  return { type: 'file', mediaType, ...(name !== undefined && { filename: name }), url }
}

/** `{name, data}` is how a posted `data-<name>` part is recorded. */
function dataPart(data: Json): ChatPart {
  const isNamed =
    typeof data === 'object' && data !== null && !Array.isArray(data) && typeof data.name === 'string' && 'data' in data
  return isNamed ? { type: `data-${data.name}`, data: data.data ?? null } : { type: 'data-input', data }
}
