import { AppError, messageOf } from '../../core/error.ts'
import { type EmittedEvent, isEmittedType, type ReasoningDelta, type TextDelta } from '../../core/event.ts'
import type { Emission } from '../../core/runnable.ts'
import { isDeeper } from '../../runtime/json-size.ts'
import { problemOfEvent } from './emission-shape.ts'

/** Half of SQLite's limit of 1,000 levels, since an event is read inside other JSON. */
export const deepestJson = 500

/** An event other than a delta, and the length of its JSON. */
export interface Recordable {
  event: Exclude<EmittedEvent, TextDelta | ReasoningDelta>
  characters: number
}

/** A copy of a text or reasoning delta; undefined for any other event. Throws `run_failed` for a delta without text. */
export function toDelta(emission: Emission): TextDelta | ReasoningDelta | undefined {
  if (typeof emission === 'string') return { type: 'text_delta', text: emission }
  const { type, text } = (emission ?? {}) as { type?: unknown; text?: unknown }
  if (type !== 'text_delta' && type !== 'reasoning_delta') return undefined
  if (typeof text !== 'string') throw new AppError('run_failed', `The agent emitted a ${type} without text.`)
  return { type, text }
}

/**
 * A copy of an emitted event that can be recorded and that the runnable can't change any more. Throws `run_failed` for a value
 * that is not an event, lacks a field or is not JSON.
 */
export function toRecordable(emission: Emission, budget: { assertNoGiant(characters: number): void }): Recordable {
  const type: unknown = (emission as { type?: unknown } | null | undefined)?.type
  if (!isEmittedType(type)) {
    throw new AppError('run_failed', 'The agent emitted a value that is not a run event.')
  }
  const subject = `The agent emitted a ${type}${nameOf(emission)}`
  const text = textOf(emission, subject)
  budget.assertNoGiant(text.length)
  const event = JSON.parse(text) as EmittedEvent | null
  const problem = event?.type === type ? problemOfEvent(type, event) : 'that JSON cannot represent exactly'
  if (problem !== undefined) throw new AppError('run_failed', `${subject} ${problem}.`)
  if (text.length > 2 * deepestJson && isDeeper(event, deepestJson)) {
    throw new AppError('run_failed', `${subject} that is nested deeper than ${deepestJson} levels.`)
  }
  return { event: event as Recordable['event'], characters: text.length }
}

function textOf(emission: Emission, subject: string): string {
  try {
    return JSON.stringify(emission) ?? 'null'
  } catch (cause) {
    const why = messageOf(cause).split('\n', 1)[0]
    throw new AppError('run_failed', `${subject} that is not JSON: ${why}.`, { cause })
  }
}

/** Names the tool or step of an event. */
function nameOf(emission: Emission): string {
  const { name } = emission as { name?: unknown }
  return typeof name === 'string' ? ` of '${name.slice(0, 100)}'` : ''
}
