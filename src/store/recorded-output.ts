import type { RunEvent, SourceEvent } from '../core/event.ts'
import { createId } from '../core/id.ts'
import { addToParts, type Message, type Part, textOf } from '../core/message.ts'
import type { Usage } from '../core/run.ts'

/** What a run had given when its process died, as far as it was recorded. */
export interface RecordedOutput {
  messages: Message[]
  sources: SourceEvent[]
  usage: Usage | null
}

export function recordedOutput(runId: string, events: Iterable<RunEvent>, at: string): RecordedOutput {
  const parts: Part[] = []
  let usage: Usage | null = null
  const sources: SourceEvent[] = []
  for (const event of events) {
    if (event.type === 'text_delta' || event.type === 'data') addToParts(parts, event)
    else if ((event.type === 'model_call_end' || event.type === 'step_end') && event.usage) {
      usage = addUsage(usage, event.usage)
    } else if (event.type === 'source') {
      const { run_id: _run, seq: _seq, at: _at, ...source } = event
      sources.push(source)
    }
  }
  if (parts.length === 0) return { messages: [], sources, usage }
  const message: Message = {
    message_id: createId('msg'),
    run_id: runId,
    role: 'assistant',
    parts,
    content: textOf(parts),
    created_at: at,
  }
  return { messages: [message], sources, usage }
}

function addUsage(sum: Usage | null, one: Usage): Usage {
  if (sum === null) return { ...one }
  return {
    input_tokens: sum.input_tokens + one.input_tokens,
    output_tokens: sum.output_tokens + one.output_tokens,
    total_tokens: sum.total_tokens + one.total_tokens,
  }
}
