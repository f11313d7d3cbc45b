import type { EmittedEvent, RunEvent } from './event.ts'
import type { Json } from './json.ts'

export interface TextPart {
  type: 'text'
  text: string
}
export interface DataPart {
  type: 'data'
  data: Json
}
export type Part = TextPart | DataPart

export type Role = 'user' | 'assistant'

/** One message, as it is recorded and sent. The record uses the names of the wire. */
export interface Message {
  message_id: string
  run_id: string
  role: Role
  parts: Part[]
  /** The text of the parts, joined. */
  content: string
  created_at: string
}

/** Adds an event of the answer to the parts; ignores all other events. */
export function addToParts(parts: Part[], event: EmittedEvent | RunEvent): void {
  if (event.type === 'data') parts.push({ type: 'data', data: event.data })
  else if (event.type === 'text_delta' && event.text !== '') {
    const last = parts.at(-1)
    if (last?.type === 'text') last.text += event.text
    else parts.push({ type: 'text', text: event.text })
  }
}

/** The parts as text for a model, with data as JSON. */
export function promptText(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part.data))).join('\n')
}

export function textOf(parts: readonly Part[]): string {
  const first = parts[0]
  if (parts.length === 1 && first?.type === 'text') return first.text
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text
  return text
}
