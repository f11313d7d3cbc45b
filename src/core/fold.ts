import {
  type DataEvent,
  type EmittedEvent,
  type InputRequired,
  isFinalEvent,
  type RunEvent,
  type SourceEvent,
  type TextDelta,
} from './event.ts'
import { addToParts, contentOf, type Message, type Part } from './message.ts'
import { addUsage, type Usage } from './run.ts'

/** A run's output built from its events, live or after its process died. */
export class RunFold {
  readonly sources: SourceEvent[] = []
  /** What it asked for since it started or was last resumed. */
  requests: InputRequired[] = []
  usage: Usage | null = null
  readonly #parts: Part[] = []
  readonly #maxCharacters: number
  #characters = 0

  /** Text and data beyond `maxCharacters` are left out. */
  constructor(maxCharacters = Number.POSITIVE_INFINITY) {
    this.#maxCharacters = maxCharacters
  }

  add(event: EmittedEvent): void {
    if (event.type === 'text_delta' || event.type === 'data') {
      if (this.#maxCharacters === Number.POSITIVE_INFINITY || this.#fits(event)) addToParts(this.#parts, event)
    } else if (event.type === 'file') addToParts(this.#parts, event)
    else if (event.type === 'source') this.sources.push(event)
    else if (event.type === 'input_required') this.requests.push(event)
    else if ((event.type === 'model_call_end' || event.type === 'step_end') && event.usage) {
      this.usage = addUsage(this.usage, event.usage)
    }
  }

  /** Adds recorded events. The first and the last event of a run are ignored. */
  addRecorded(events: readonly RunEvent[]): void {
    for (const { run_id: _run, seq: _seq, at: _at, ...event } of events) {
      if (event.type === 'run_resumed') this.requests = []
      else if (event.type !== 'run_start' && !isFinalEvent(event)) this.add(event)
    }
  }

  /** The answer as one message; empty without text, data and files. */
  messages(runId: string, messageId: string, createdAt: string): Message[] {
    if (this.#parts.length === 0) return []
    const parts = this.#parts.map((part) => ({ ...part }))
    return [
      {
        message_id: messageId,
        run_id: runId,
        role: 'assistant',
        parts,
        content: contentOf(parts),
        created_at: createdAt,
      },
    ]
  }

  #fits(event: TextDelta | DataEvent): boolean {
    this.#characters += event.type === 'data' ? JSON.stringify(event.data).length : event.text.length
    return this.#characters <= this.#maxCharacters
  }
}
