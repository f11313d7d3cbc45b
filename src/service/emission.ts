import { AppError } from '../core/error.ts'
import type { EmittedEvent } from '../core/event.ts'
import type { Emission } from '../core/runnable.ts'

const emitted: Record<EmittedEvent['type'], true> = {
  text_delta: true,
  reasoning_delta: true,
  data: true,
  model_call_start: true,
  model_call_end: true,
  retrieval: true,
  source: true,
  tool_call: true,
  tool_result: true,
  input_required: true,
  step_start: true,
  step_end: true,
}

/**
 * What a runnable emitted as an event that can be recorded, and that the runnable can't change any more. Throws
 * `run_failed` for what is no event of a runnable, or holds what is no JSON.
 */
export function toEvent(emission: Emission): EmittedEvent {
  if (typeof emission === 'string') return { type: 'text_delta', text: emission }
  const type: unknown = (emission as { type?: unknown } | null | undefined)?.type
  if (typeof type !== 'string' || !Object.hasOwn(emitted, type)) {
    throw new AppError('run_failed', 'The agent emitted something that is no event of a run.')
  }
  if (emission.type !== 'text_delta' && emission.type !== 'reasoning_delta') return copy(emission)
  if (typeof emission.text !== 'string') throw new AppError('run_failed', `The agent emitted a ${type} without text.`)
  return emission
}

function copy(event: EmittedEvent): EmittedEvent {
  try {
    return JSON.parse(JSON.stringify(event)) as EmittedEvent
  } catch (cause) {
    throw new AppError('run_failed', `The agent emitted a ${event.type} that is not JSON.`, { cause })
  }
}
