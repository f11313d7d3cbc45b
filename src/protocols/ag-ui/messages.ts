import { type Message, type Part, promptText } from '../../core/message.ts'
import { addressOf, type FileAddress } from '../kept-file.ts'
import type { AgUiEvent, AgUiMessage, ContentPart } from './event.ts'

type Assistant = Extract<AgUiMessage, { role: 'assistant' }>

/** The messages that a client has after the events of a run. */
export class MessageFold {
  readonly messages: AgUiMessage[] = []
  readonly #byId = new Map<string, AgUiMessage>()
  /** The message that makes a call, by the call. */
  readonly #callers = new Map<string, Assistant>()

  add(event: AgUiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START': {
        const message = this.#assistant(event.messageId)
        message.content ??= ''
        return
      }
      case 'REASONING_MESSAGE_START':
        this.#push({ id: event.messageId, role: 'reasoning', content: '' })
        return
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT': {
        const message = this.#byId.get(event.messageId)
        if (message?.role === 'assistant' || message?.role === 'reasoning') {
          message.content = `${message.content ?? ''}${event.delta}`
        }
        return
      }
      case 'TOOL_CALL_START': {
        const message = this.#assistant(event.parentMessageId)
        message.toolCalls ??= []
        const call = { name: event.toolCallName, arguments: '' }
        message.toolCalls.push({ id: event.toolCallId, type: 'function', function: call })
        this.#callers.set(event.toolCallId, message)
        return
      }
      case 'TOOL_CALL_ARGS': {
        const call = this.#callers.get(event.toolCallId)?.toolCalls?.find(({ id }) => id === event.toolCallId)
        if (call !== undefined) call.function.arguments += event.delta
        return
      }
      case 'TOOL_CALL_RESULT':
        this.#addResult(event)
        return
      default:
    }
  }

  #push(message: AgUiMessage): void {
    this.messages.push(message)
    this.#byId.set(message.id, message)
  }

  #assistant(id: string): Assistant {
    const known = this.#byId.get(id)
    if (known?.role === 'assistant') return known
    const message: Assistant = { id, role: 'assistant' }
    this.#push(message)
    return message
  }

  /** Clients put it behind the message that made the call, after other results. */
  #addResult({ messageId: id, toolCallId, content }: Extract<AgUiEvent, { type: 'TOOL_CALL_RESULT' }>): void {
    const message: AgUiMessage = { id, role: 'tool', toolCallId, content }
    const caller = this.#callers.get(toolCallId)
    let at = caller === undefined ? this.messages.length : this.messages.lastIndexOf(caller) + 1
    while (this.messages[at]?.role === 'tool') at++
    this.messages.splice(at, 0, message)
  }
}

/** The input of a run as the message that the client posted. */
export function userMessage({ message_id, parts }: Message, sessionId: string, fileAddress: FileAddress): AgUiMessage {
  if (parts.every(({ type }) => type === 'text')) {
    return { id: message_id, role: 'user', content: promptText(parts) }
  }
  return { id: message_id, role: 'user', content: parts.map((part) => contentPart(part, sessionId, fileAddress)) }
}

function contentPart(part: Part, sessionId: string, fileAddress: FileAddress): ContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'data') return { type: 'text', text: JSON.stringify(part.data) }
  const { media_type: mimeType, name } = part
  const kind = /^(image|audio|video)\//i.exec(mimeType)?.[1]?.toLowerCase() ?? 'document'
  return {
    type: kind as 'image' | 'audio' | 'video' | 'document',
    source: { type: 'url', value: addressOf(part, sessionId, fileAddress) ?? '', mimeType },
    ...(name !== undefined && { metadata: { filename: name } }),
  }
}
