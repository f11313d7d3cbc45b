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

/** One side of an interaction, as it is recorded and as it is answered: the record keeps the names of the wire. */
export interface Message {
  message_id: string
  run_id: string
  role: Role
  parts: Part[]
  /** The text of the parts, joined. */
  content: string
  created_at: string
}

/** Puts what the stream of a run gives as its answer to the parts so far; leaves every other event alone. */
export function addToParts(parts: Part[], event: EmittedEvent | RunEvent): void {
  if (event.type === 'data') parts.push({ type: 'data', data: event.data })
  else if (event.type === 'text_delta' && event.text !== '') {
    const last = parts.at(-1)
    if (last?.type === 'text') last.text += event.text
    else parts.push({ type: 'text', text: event.text })
  }
}

/** As a model reads them: texts as they are, data as JSON. */
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
