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

export function textOf(parts: readonly Part[]): string {
  const first = parts[0]
  if (parts.length === 1 && first?.type === 'text') return first.text
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text
  return text
}
