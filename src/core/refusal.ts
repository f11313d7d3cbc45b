import type { RunEvent } from './event.ts'
import { isJsonObject, type Json } from './json.ts'
import { contentOf, type DataPart, type Message, type Part } from './message.ts'
import type { RunGiven } from './run.ts'

/*
 * Refused input is stored nowhere: a mark replaces it. Input that is not checked yet is hidden in the same way from
 * everyone except its run.
 */

export const refusedData = { refused: true } as const
const marks: readonly string[] = ['refused', 'unchecked']

function partOf(mark: 'refused' | 'unchecked'): DataPart {
  return { type: 'data', data: { [mark]: true } }
}

export function refusedParts(): Part[] {
  return [partOf('refused')]
}

export function uncheckedParts(): Part[] {
  return [partOf('unchecked')]
}

/** Replaces the content by a mark. */
export function refuseMessage(message: Message): Message {
  const parts = refusedParts()
  return { ...message, parts, content: contentOf(parts) }
}

/** The message as readers see it before it is checked. */
export function hideMessage(message: Message): Message {
  const parts = uncheckedParts()
  return { ...message, parts, content: contentOf(parts) }
}

/** Whether the turn's input is a mark: such a turn is not sent to a model. */
export function isWithheld({ messages }: { messages: readonly Message[] }): boolean {
  return messages[0]?.role === 'user' && areMark(messages[0].parts)
}

/** Whether the parts of an input are a mark in its place. */
export function areMark([part, ...more]: readonly Part[]): boolean {
  if (part?.type !== 'data' || more.length > 0) return false
  const { data } = part
  if (!isJsonObject(data)) return false
  const entries = Object.entries(data)
  return entries.length === 1 && marks.includes(entries[0]?.[0] ?? '') && entries[0]?.[1] === true
}

/** What says nothing of an input. */
const keptEdits: readonly string[] = ['model', 'settings']

/** What remains of what a caller gave with a refused input. `goesOn`: keeps what a paused run needs to resume. */
export function refuseGiven(given: RunGiven | null, goesOn: boolean): RunGiven | null {
  if (given === null || !goesOn) return null
  const { history: _history, instructions: _instructions, protocol: _protocol, edit, ...rest } = given
  const kept = Object.fromEntries(Object.entries(edit ?? {}).filter(([key]) => keptEdits.includes(key)))
  const left: RunGiven = Object.keys(kept).length === 0 ? rest : { ...rest, edit: kept }
  return Object.keys(left).length === 0 ? null : left
}

type Recorded = Omit<RunEvent, 'run_id'>

/**
 * Removes from an event what may repeat a refused input: prompts, queries, tool arguments. Gives the same object when
 * there is nothing to remove. `goesOn`: keeps what a paused run needs to resume.
 */
export function withoutInput<T extends Recorded>(event: T, goesOn: boolean): T {
  const { type } = event
  if (type === 'model_call_start') {
    const { messages: _messages, prompt: _prompt, ...rest } = event as T & { messages?: Json; prompt?: unknown }
    return { ...rest, messages: refusedData } as unknown as T
  }
  if (type === 'retrieval') {
    const { words: _words, ...rest } = event as T & { words?: string[] }
    return { ...rest, query: JSON.stringify(refusedData) } as unknown as T
  }
  if (type === 'tool_call') return { ...event, input: refusedData }
  if (type === 'tool_input_delta') return { ...event, text: '' }
  if (type !== 'input_required' || goesOn) return event
  const { messages: _messages, ...rest } = event as T & { messages?: Json; data?: Json }
  return (rest.data === undefined ? rest : { ...rest, data: refusedData }) as unknown as T
}
