import { type EmittedEvent, isFinalEvent, type RunEvent, type SourceEvent } from './event.ts'
import { addToParts, type Message, type Part, textOf } from './message.ts'
import type { Usage } from './run.ts'

/** The answer as the fold of the stream: parts, sources and usage so far. */
export class RunFold {
  readonly #parts: Part[] = []
  readonly sources: SourceEvent[] = []
  usage: Usage | null = null

  add(event: EmittedEvent): void {
    if (event.type === 'text_delta' || event.type === 'data') addToParts(this.#parts, event)
    else if (event.type === 'source') this.sources.push(event)
    else if ((event.type === 'model_call_end' || event.type === 'step_end') && event.usage) {
      this.usage = sum(this.usage, event.usage)
    }
  }

  /** Takes up what was recorded before a pause. */
  addRecorded(events: readonly RunEvent[]): void {
    for (const { run_id: _run, seq: _seq, at: _at, ...event } of events) {
      if (event.type !== 'run_start' && event.type !== 'run_resumed' && !isFinalEvent(event)) this.add(event)
    }
  }

  /** None when nothing came out. */
  messages(runId: string, messageId: string, createdAt: string): Message[] {
    if (this.#parts.length === 0) return []
    const parts = this.#parts.map((part) => ({ ...part }))
    return [
      {
        message_id: messageId,
        run_id: runId,
        role: 'assistant',
        parts,
        content: textOf(parts),
        created_at: createdAt,
      },
    ]
  }
}

function sum(earlier: Usage | null, usage: Usage): Usage {
  if (earlier === null) return usage
  return {
    input_tokens: earlier.input_tokens + usage.input_tokens,
    output_tokens: earlier.output_tokens + usage.output_tokens,
    total_tokens: earlier.total_tokens + usage.total_tokens,
  }
}
