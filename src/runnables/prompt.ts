import type { ModelMessage } from 'ai'
import type { Message, Part } from '../core/message.ts'

/** A session's earlier messages as a model reads them; empty ones, of runs that gave nothing, are left out. */
export function historyMessages(history: readonly Message[]): ModelMessage[] {
  return history.flatMap(({ role, parts }) => {
    const content = partsText(parts)
    return content === '' ? [] : [{ role, content }]
  })
}

/** Texts as they are, data as JSON. */
export function partsText(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part.data))).join('\n')
}
