import { type InputRequired, isKnownType, type RunEvent, type Stamp } from '../event.ts'
import { kindOf } from '../waiting.ts'

type PrivateFields = Partial<Record<'messages' | 'tools' | 'settings' | 'prompt' | 'state', unknown>>

/** An event as it is sent. Prompts and the data for resuming are left out unless `prompts` is set. */
export function toWireEvent(event: RunEvent, prompts: boolean): RunEvent {
  if (prompts) return event.type === 'input_required' ? withKind(event) : event
  if (event.type === 'model_call_start') {
    const { type, run_id, seq, at, call_id, model } = event
    return { type, run_id, seq, at, call_id, model }
  }
  if (event.type === 'input_required') {
    const { messages: _, ...shown } = event
    return withKind(shown)
  }
  if (event.type === 'step_end') {
    const { state: _, ...shown } = event
    return shown
  }
  return isKnownType(event.type) ? event : withoutPrivate(event)
}

/** Of an event of a later version: these names stand for the same in all events. */
function withoutPrivate(event: RunEvent): RunEvent {
  const { messages: _m, tools: _t, settings: _s, prompt: _p, state: _st, ...shown } = event as RunEvent & PrivateFields
  return shown as RunEvent
}

/** Earlier versions did not record it. */
function withKind(event: InputRequired & Stamp): InputRequired & Stamp {
  return event.kind === undefined ? { ...event, kind: kindOf(event) } : event
}
