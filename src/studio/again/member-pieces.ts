import type { Json } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import type { RunEvent } from '../../wire/event.ts'

interface Piece {
  seq: number
  text?: string
  /** A file or data of the answer. */
  parts?: readonly Part[]
  tool?: string
  input?: Json
  output?: Json
  member?: { name: string; runId: string }
}

/** What was said between two calls is one piece. */
export function piecesOf(events: readonly RunEvent[]): Piece[] {
  const pieces: Piece[] = []
  const calls = new Map<string, Piece>()
  for (const event of events) {
    const { seq } = event
    if (event.type === 'text_delta') {
      const last = pieces.at(-1)
      if (last?.text === undefined) pieces.push({ seq, text: event.text })
      else last.text += event.text
    } else if (event.type === 'file' || event.type === 'data') pieces.push({ seq, parts: [event] })
    else if (event.type === 'tool_call') {
      const call: Piece = { seq, tool: event.name, input: event.input }
      calls.set(event.call_id, call)
      pieces.push(call)
    } else if (event.type === 'tool_result') {
      const call = calls.get(event.call_id)
      if (call !== undefined) call.output = event.output ?? event.error ?? null
    } else if (event.type === 'step_start' && event.child_run_id !== undefined)
      pieces.push({ seq, member: { name: event.name, runId: event.child_run_id } })
  }
  return pieces
}
