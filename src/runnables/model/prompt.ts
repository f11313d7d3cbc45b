import type { ModelMessage } from 'ai'
import { type Message, promptText } from '../../core/message.ts'

/** A session's earlier messages as a model reads them; empty ones, of runs that gave nothing, are left out. */
export function historyMessages(history: readonly Message[]): ModelMessage[] {
  return history.flatMap(({ role, parts }) => {
    const content = promptText(parts)
    return content === '' ? [] : [{ role, content }]
  })
}
