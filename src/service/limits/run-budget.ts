import type { EmittedEvent } from '../../core/event.ts'
import { type Limits, runLimit, shownBytes } from '../../core/limits.ts'
import type { Recordable } from '../events/to-event.ts'

export type RunBounds = Pick<
  Limits,
  'run' | 'fileBytes' | 'toolResult' | 'metadataBytes' | 'stateBytes' | 'history' | 'clientTools'
>

/** Counts what one run emits. Every method throws `run_limit` for what is too much, before any of it is recorded. */
export class RunBudget {
  readonly #bounds: RunBounds
  #bytes = 0
  #events = 0

  constructor(bounds: RunBounds) {
    this.#bounds = bounds
  }

  /** Counts a delta; an empty one counts as one byte. */
  addText(text: string): void {
    this.#addBytes(Buffer.byteLength(text) || 1)
  }

  /** Refuses an event that is far too large, before it is parsed. */
  assertNoGiant(characters: number): void {
    const most = 4 * Math.max(this.#bounds.run.outputBytes, this.#bounds.toolResult.recordBytes)
    if (characters > most) throw this.#tooMuch()
  }

  /** Refuses partial data that is larger than the run's whole output may be; it is not counted. */
  assertPartialFits({ event, characters }: Recordable): void {
    if (characters <= this.#bounds.run.outputBytes / 3) return
    if (Buffer.byteLength(JSON.stringify(said(event))) > this.#bounds.run.outputBytes) throw this.#tooMuch()
  }

  addEvent({ event, characters }: Recordable): void {
    const { run, toolResult } = this.#bounds
    if (++this.#events > run.events)
      throw runLimit('run.events', String(run.events), 'It emitted more events (text deltas are not counted)')
    const counted = said(event)
    if (counted !== undefined) this.#addBytes(Buffer.byteLength(JSON.stringify(counted)))
    if (event.type !== 'tool_result' && event.type !== 'tool_progress') return
    if (characters <= toolResult.recordBytes / 3) return
    const bytes = Buffer.byteLength(
      JSON.stringify(event.type === 'tool_result' ? (event.output ?? event.error) : event.output),
    )
    if (bytes <= toolResult.recordBytes) return
    const what = `The tool '${event.name}' gave a result of ${shownBytes(bytes)}`
    throw runLimit('toolResult.record', shownBytes(toolResult.recordBytes), what)
  }

  #addBytes(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#bounds.run.outputBytes) throw this.#tooMuch()
  }

  #tooMuch() {
    return runLimit('run.output', shownBytes(this.#bounds.run.outputBytes), 'It emitted more text and data')
  }
}

/** What an event adds to the run's output. Prompts, tool results and the session's state have their own limits. */
function said(event: EmittedEvent): unknown {
  switch (event.type) {
    case 'model_call_start':
    case 'tool_result':
    case 'tool_progress':
      return undefined
    case 'tool_input_delta':
      return event.text
    case 'data':
    case 'data_delta':
      return event.data
    case 'step_end':
      return event.output
    case 'input_required':
      return event.data
    default:
      return event
  }
}
