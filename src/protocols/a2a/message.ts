import type { Json } from '../../core/json.ts'
import type { Message, Part } from '../../core/message.ts'
import { parseJson } from '../../http/body/json-guard.ts'
import type { A2AMessage, A2APart } from '../../wire/a2a.ts'

/** The messages in A2A's form: data as a JSON string, without empty texts. */
export function toWireMessage(message: Message, agentId: string, contextId: string): A2AMessage {
  return {
    messageId: message.message_id,
    role: message.role,
    agentId,
    contextId,
    parts: message.parts.length === 0 ? [{ type: 'text' }] : message.parts.map(toWirePart),
  }
}

function toWirePart(part: Part): A2APart {
  if (part.type === 'data') return { type: 'data', data: JSON.stringify(part.data) }
  // The dialect knows text and data only: a file is data.
  if (part.type === 'file') return { type: 'data', data: JSON.stringify(part) }
  return part.text === '' ? { type: 'text' } : { type: 'text', content: part.text }
}

/** A part of a request, or what is wrong with it. `text` may be empty; `data` is JSON in a string. */
export function readPart(value: unknown): Part | string {
  if (typeof value === 'object' && value !== null && 'type' in value) {
    if (value.type === 'text') {
      return { type: 'text', text: 'content' in value && typeof value.content === 'string' ? value.content : '' }
    }
    if (value.type === 'data') {
      const data = 'data' in value && typeof value.data === 'string' ? parseData(value.data) : undefined
      return data === undefined ? 'data must be a JSON string' : { type: 'data', data }
    }
  }
  return 'type must be text or data'
}

function parseData(text: string): Json | undefined {
  try {
    return parseJson(text) as Json
  } catch {
    return undefined
  }
}
