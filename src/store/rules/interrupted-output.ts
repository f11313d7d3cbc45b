import type { RunEvent, SourceEvent } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import { addToParts, type Message, type Part, textOf } from '../../core/message.ts'
import type { Usage } from '../../core/run.ts'
import { jsonSize } from '../../runtime/json-size.ts'

/** What a run had given when its process died, as far as it was recorded. */
export interface RecordedOutput {
  messages: Message[]
  sources: SourceEvent[]
  usage: Usage | null
}

/** More than a run may give by any limit; what an unlimited one gave beyond that stays in its events alone. */
const mostCharacters = 64 * 1024 * 1024

/** Puts the output of a run together from its events, as they come. */
export class OutputFold {
  readonly #parts: Part[] = []
  readonly #sources: SourceEvent[] = []
  #usage: Usage | null = null
  #characters = 0

  add(event: RunEvent): void {
    if (event.type === 'text_delta' || event.type === 'data') {
      this.#characters += event.type === 'data' ? jsonSize(event.data, mostCharacters) : event.text.length
      if (this.#characters <= mostCharacters) addToParts(this.#parts, event)
    } else if ((event.type === 'model_call_end' || event.type === 'step_end') && event.usage) {
      this.#usage = addUsage(this.#usage, event.usage)
    } else if (event.type === 'source') {
      const { run_id: _run, seq: _seq, at: _at, ...source } = event
      this.#sources.push(source)
    }
  }

  finish(runId: string, at: string): RecordedOutput {
    const parts = this.#parts
    const output = { sources: this.#sources, usage: this.#usage }
    if (parts.length === 0) return { messages: [], ...output }
    const message: Message = {
      message_id: createId('msg'),
      run_id: runId,
      role: 'assistant',
      parts,
      content: textOf(parts),
      created_at: at,
    }
    return { messages: [message], ...output }
  }
}

function addUsage(sum: Usage | null, one: Usage): Usage {
  if (sum === null) return { ...one }
  return {
    input_tokens: sum.input_tokens + one.input_tokens,
    output_tokens: sum.output_tokens + one.output_tokens,
    total_tokens: sum.total_tokens + one.total_tokens,
  }
}
