import type { EmittedEvent, SourceEvent } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { Usage } from '../core/run.ts'

/** The answer as the fold of the stream: text, sources and usage so far. */
export class RunFold {
  text = ''
  readonly sources: SourceEvent[] = []
  usage: Usage | null = null

  add(event: EmittedEvent): void {
    if (event.type === 'text_delta') this.text += event.text
    else if (event.type === 'source') this.sources.push(event)
    else if (event.type === 'model_call_end' && event.usage !== null) this.usage = sum(this.usage, event.usage)
  }

  /** None when nothing came out. */
  messages(runId: string, messageId: string, createdAt: string): Message[] {
    if (this.text === '') return []
    return [
      {
        message_id: messageId,
        run_id: runId,
        role: 'assistant',
        parts: [{ type: 'text', text: this.text }],
        content: this.text,
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
