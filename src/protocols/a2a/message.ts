import type { Json } from '../../core/json.ts'
import type { FilePart, GivenPart, Message, Part } from '../../core/message.ts'
import { parseJson } from '../../http/body/json-guard.ts'
import type { A2AMessage, A2APart } from '../../wire/protocols/a2a.ts'
import type { SentFile } from '../files.ts'

/** The messages in A2A's form: data as a JSON string, without empty texts. */
export function toWireMessage(
  message: Message,
  agentId: string,
  contextId: string,
  contents: ReadonlyMap<FilePart, SentFile> = new Map(),
): A2AMessage {
  const toPart = (part: Part) => toWirePart(part.type === 'file' ? (contents.get(part) ?? part) : part)
  return {
    messageId: message.message_id,
    role: message.role,
    agentId,
    contextId,
    parts: message.parts.length === 0 ? [{ type: 'text' }] : message.parts.map(toPart),
  }
}

function toWirePart(part: Part): A2APart {
  if (part.type === 'data') return { type: 'data', data: JSON.stringify(part.data) }
  // The dialect knows text and data only: a file is data.
  if (part.type === 'file') return { type: 'data', data: JSON.stringify(part) }
  return part.text === '' ? { type: 'text' } : { type: 'text', content: part.text }
}

/** A part of a request, or what is wrong with it. `text` may be empty; `data` is JSON in a string. A file is a data part. */
export function readPart(value: unknown): GivenPart | string {
  if (typeof value === 'object' && value !== null && 'type' in value) {
    if (value.type === 'text') {
      return { type: 'text', text: 'content' in value && typeof value.content === 'string' ? value.content : '' }
    }
    if (value.type === 'data') {
      const data = 'data' in value && typeof value.data === 'string' ? parseData(value.data) : undefined
      return data === undefined ? 'data must be a JSON string' : (toFile(data) ?? { type: 'data', data })
    }
  }
  return 'type must be text or data'
}

/** Data that is a file part with its content or address; the run service checks it. */
function toFile(data: Json): GivenPart | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined
  const { type, media_type, name, data: content, url } = data
  if (type !== 'file' || typeof media_type !== 'string' || (content === undefined && url === undefined))
    return undefined
  if (content !== undefined && url !== undefined) return undefined
  const named = name === undefined ? {} : { name: name as string }
  if (typeof content === 'string') return { type, media_type, ...named, data: content }
  return typeof url === 'string' ? { type, media_type, ...named, url } : undefined
}

function parseData(text: string): Json | undefined {
  try {
    return parseJson(text) as Json
  } catch {
    return undefined
  }
}
