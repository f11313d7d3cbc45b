import type { RunEvent } from '../event.ts'
import type { Json } from '../json.ts'

/** A tool call as a record has it; without `output` and `error` it has no result. */
export interface RecordedCall {
  name: string
  input: Json
  output?: Json
  error?: string
}

/** The tool calls of a run, in order, with their results. */
export function recordedCalls(events: readonly RunEvent[]): RecordedCall[] {
  const results = new Map(events.flatMap((event) => (event.type === 'tool_result' ? [[event.call_id, event]] : [])))
  return events.flatMap((event) => {
    if (event.type !== 'tool_call') return []
    const { name, input, call_id } = event
    const result = results.get(call_id)
    const call: RecordedCall = { name, input }
    if (result?.output !== undefined) call.output = result.output
    if (result?.error !== undefined) call.error = result.error.message
    return [call]
  })
}

/** Whether two values are the same JSON; the order of keys does not matter. */
export function isSameJson(one: Json, other: Json): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, place) => isSameJson(value, other[place] ?? null))
    )
  }
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameJson(one[key] ?? null, other[key] ?? null))
  )
}
