import type { Json } from '../../core/json.ts'
import { addToParts, type Part } from '../../core/message.ts'
import type { RunEvents } from '../state/run/events.ts'
import { resultOf } from './compare.ts'

interface Piece {
  seq: number
  title: string
  /** What the run said. */
  parts?: Part[]
  /** What a tool was given. */
  input?: Json
  output?: Json | undefined
  /** The run of a member. */
  runId?: string
}

/** What was said between two calls is one piece. */
export function piecesOf(events: RunEvents): Piece[] {
  const pieces: Piece[] = []
  for (const event of events.all) {
    const { seq } = event
    if (event.type === 'text_delta' || event.type === 'file' || event.type === 'data') {
      const last = pieces.at(-1)
      const parts = last?.parts ?? []
      if (last?.parts === undefined) pieces.push({ seq, title: 'What it said', parts })
      addToParts(parts, event)
    } else if (event.type === 'tool_call') {
      const result = resultOf(events, event.call_id, seq)
      const output = result && (result.output ?? result.error ?? null)
      pieces.push({ seq, title: event.name, input: event.input, output })
    } else if (event.type === 'step_start' && event.child_run_id !== undefined)
      pieces.push({ seq, title: event.name, runId: event.child_run_id })
  }
  return pieces
}
