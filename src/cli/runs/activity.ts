import type { RunEvent, SourceEvent, StepEnd } from '../../core/event.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { RunStatus, Usage, Waiting, WaitingKind } from '../../core/run.ts'
import type { ShownFile } from '../terminal/message-text.ts'
import { terminalLine } from '../terminal/text.ts'
import { toWaiting } from './waiting.ts'

export interface Question {
  callId: string | undefined
  prompt: string
  about: string | undefined
  /** JSON schema of the wanted input; undefined for yes or no. */
  schema: JsonObject | undefined
  wants: WaitingKind
  tool: string | undefined
  /** Not safe for the terminal. */
  request: Waiting
}

/** What a person sees of a run; every text is safe for the terminal, except `model`, `whole` and those of `reasoning` in `showEvent`. */
export type TurnEvent =
  | { type: 'started'; runId: string | undefined }
  | { type: 'text'; text: string }
  | { type: 'file'; file: ShownFile }
  | { type: 'model_call'; model: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool_call'; callId: string; name: string; input: string; whole: Json }
  | { type: 'tool_progress'; callId: string; output: string }
  | { type: 'tool_result'; callId: string; name: string; error: string | undefined; durationMs: number; whole?: Json }
  | { type: 'step_start'; stepId: string; name: string }
  | { type: 'step_end'; stepId: string; status: string; error: string | undefined; durationMs: number; whole?: Json }
  | { type: 'usage'; usage: Usage }
  | { type: 'source'; source: SourceEvent }
  | { type: 'question'; question: Question }
  | { type: 'connection'; lost: boolean }
  | { type: 'error'; message: string }
  | { type: 'end'; end: TurnEnd }

export interface TurnEnd {
  sessionId: string | undefined
  runId: string | undefined
  /** Undefined from a server that keeps no record. */
  status: RunStatus | undefined
  usage: Usage | null
  /** Number of the last event: a resumed run continues after it. */
  seq: number
}

const maxShown = 160

/** Undefined for events that are not shown. */
export function showEvent(event: RunEvent): TurnEvent | undefined {
  switch (event.type) {
    case 'reasoning_delta':
      return { type: 'reasoning', text: event.text }
    case 'tool_call': {
      const { call_id: callId, input } = event
      return { type: 'tool_call', callId, name: terminalLine(event.name), input: inShort(input), whole: input }
    }
    case 'tool_progress':
      return { type: 'tool_progress', callId: event.call_id, output: inShort(event.output) }
    case 'tool_result':
      return {
        type: 'tool_result',
        callId: event.call_id,
        name: terminalLine(event.name),
        ...endOf(event),
      }
    case 'step_start':
      return { type: 'step_start', stepId: event.step_id, name: terminalLine(event.name) }
    case 'step_end':
      return {
        type: 'step_end',
        stepId: event.step_id,
        status: event.status,
        ...endOf(event),
      }
    case 'model_call_start':
      return { type: 'model_call', model: event.model }
    case 'model_call_end':
      return event.usage === null ? undefined : { type: 'usage', usage: event.usage }
    case 'input_required':
      return { type: 'question', question: toQuestion(toWaiting(event)) }
    default:
      return undefined
  }
}

/** What the ends of tool calls and of steps have in common. */
function endOf({ error, output, duration_ms: durationMs }: Pick<StepEnd, 'error' | 'output' | 'duration_ms'>) {
  const message = error === undefined ? undefined : terminalLine(error.message)
  return { error: message, durationMs, ...(output !== undefined && { whole: output }) }
}

export function toQuestion(request: Waiting): Question {
  const { call_id: callId, prompt, data, schema, tool } = request
  const about = data === undefined ? undefined : inShort(data)
  return { callId, prompt: terminalLine(prompt), about, schema, wants: request.kind, tool, request }
}

function inShort(value: Json): string {
  const line = terminalLine((JSON.stringify(value) ?? '').slice(0, maxShown * 4))
  return line.length > maxShown ? `${line.slice(0, maxShown)}…` : line
}
