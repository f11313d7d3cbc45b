import type { ModelMessage } from 'ai'
import { type Message, promptText } from '../../core/message.ts'

/** A session's earlier messages for the model, without the empty ones of runs that gave no output. */
export function historyMessages(history: readonly Message[]): ModelMessage[] {
  return history.flatMap(({ role, parts }) => {
    const content = promptText(parts)
    return content === '' ? [] : [{ role, content }]
  })
}
