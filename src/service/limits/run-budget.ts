import type { EmittedEvent } from '../../core/event.ts'
import { type Limits, runLimit, shownBytes } from '../../core/limits.ts'
import type { Recordable } from '../events/to-event.ts'

/** What runs are held to. */
export type RunBounds = Pick<Limits, 'run' | 'toolResult' | 'metadataBytes' | 'stateBytes'>

/** What one run has emitted so far. Every method throws `run_limit` for what is too much, before any of it is kept. */
export class RunBudget {
  readonly #bounds: RunBounds
  #bytes = 0
  #events = 0

  constructor(bounds: RunBounds) {
    this.#bounds = bounds
  }

  /** A delta; one without text counts too, since it costs its place. */
  addText(text: string): void {
    this.#addBytes(Buffer.byteLength(text) || 1)
  }

  /** Of an event that nobody has looked at closely yet: whether that is worth it. */
  assertNoGiant(characters: number): void {
    const most = 4 * Math.max(this.#bounds.run.outputBytes, this.#bounds.toolResult.recordBytes)
    if (characters > most) throw this.#tooMuch()
  }

  addEvent({ event, characters }: Recordable): void {
    const { run, toolResult } = this.#bounds
    if (++this.#events > run.events)
      throw runLimit('run.events', String(run.events), 'It emitted more events (text deltas are not counted)')
    const counted = said(event)
    if (counted !== undefined) this.#addBytes(Buffer.byteLength(JSON.stringify(counted)))
    if (event.type !== 'tool_result' || characters <= toolResult.recordBytes / 3) return
    const bytes = Buffer.byteLength(JSON.stringify(event.output ?? event.error))
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

/** What an event adds to the run's output. Prompts, results of tools and the session's state have limits of their own. */
function said(event: EmittedEvent): unknown {
  switch (event.type) {
    case 'model_call_start':
    case 'tool_result':
      return undefined
    case 'data':
      return event.data
    case 'step_end':
      return event.output
    case 'input_required':
      return event.data
    default:
      return event
  }
}
