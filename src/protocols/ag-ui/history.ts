import type { GivenPart } from '../../core/message.ts'
import type { StartGiven } from '../../service/services.ts'
import { readContent } from './content.ts'
import { runOfMessage } from './ids.ts'
import type { AgUiInput, PostedMessage } from './request.ts'

/** The most that a run takes. */
const mostMessages = 1000

/**
 * What was said before, for a thread that is new here, or whose client remembers answers of another origin, such as a greeting.
 * Undefined when the session has it all.
 */
export function historyOf({ messages, earlier }: AgUiInput, isNew: boolean): StartGiven['history'] {
  const before = messages.slice(0, earlier)
  const isForeign = ({ role, id }: PostedMessage) => role === 'assistant' && runOfMessage(id) === undefined
  if (!isNew && !before.some(isForeign)) return undefined
  const told = before.slice(-mostMessages).flatMap((message) => {
    const parts = partsOf(message)
    // What a tool gave is no word of the assistant.
    const role = message.role === 'assistant' ? ('assistant' as const) : ('user' as const)
    return parts.length === 0 ? [] : [{ role, parts }]
  })
  return told.length === 0 ? undefined : told
}

function partsOf({ role, fields, path }: PostedMessage): GivenPart[] {
  const { content = null, toolCalls, toolCallId } = fields
  // Files of earlier messages stay where they are.
  const read = content === null ? [] : readContent(content, `${path}.content`, () => undefined)
  const parts = read.filter((part) => part.type !== 'kept-file')
  if (role === 'tool') {
    const output = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    return [{ type: 'data', data: { tool_call_id: typeof toolCallId === 'string' ? toolCallId : '', output } }]
  }
  if (role !== 'assistant' || !Array.isArray(toolCalls) || toolCalls.length === 0) return parts
  return [...parts, { type: 'data', data: { tool_calls: toolCalls } }]
}
