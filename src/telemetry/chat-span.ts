import type { ModelCallEnd, ModelCallStart, ModelFallback, Stamp, ToolCall } from '../core/event.ts'
import type { TracedCall } from '../core/events/trace.ts'
import type { Run, Usage } from '../core/run.ts'
import { type ContentPart, listText, promptAttributes } from './contents.ts'
import { type Attributes, attributesOf, type SpanDraft } from './draft.ts'
import { namedModel } from './providers.ts'
import { spanIdOf } from './trace-context.ts'
import type { Work } from './work-spans.ts'

/** The span of one model call: `chat {model}`. */
export class ChatSpan {
  readonly #call: ModelCallStart & Stamp
  readonly #run: Pick<Run, 'run_id' | 'session_id'>
  readonly #withContents: boolean
  readonly #maxCharacters: number
  readonly #parts: ContentPart[] = []
  #attributes: Attributes = {}
  #end: (ModelCallEnd & Stamp) | undefined
  #failure: SpanDraft['failure']

  constructor(call: ModelCallStart & Stamp, { run, withContents, maxCharacters }: Work) {
    this.#call = call
    this.#run = run
    this.#withContents = withContents
    this.#maxCharacters = maxCharacters
  }

  /** It was taken over from the record of another run, and no model was called. */
  get isRepeated(): boolean {
    return this.#end?.repeated === true
  }

  addText(type: 'text' | 'reasoning', text: string): void {
    const last = this.#parts.at(-1)
    if (last?.type !== type) this.#parts.push({ type, content: text })
    // The rest would be cut off anyway.
    else if (String(last.content).length < this.#maxCharacters) last.content = String(last.content) + text
  }

  addToolCall({ call_id: id, name, input }: ToolCall): void {
    this.#parts.push({ type: 'tool_call', id, name, arguments: input })
  }

  end(event: ModelCallEnd & Stamp): void {
    this.#end = event
    if (event.finish_reason === 'error') this.#failure = { type: event.refused ? 'refused' : '_OTHER' }
  }

  fallBack({ to, reason }: ModelFallback): void {
    this.#failure = { type: this.#failure?.type ?? '_OTHER', message: this.#withContents ? reason : undefined }
    this.#attributes['agentserve.model_fallback.to'] = to
  }

  describe(call: TracedCall): void {
    Object.assign(this.#attributes, promptAttributes(call, this.#maxCharacters))
  }

  /** `cut`: how the run ended, for a call without an end. */
  draft(endMs: number, cut: SpanDraft['failure']): SpanDraft {
    const { call_id, model: name, at } = this.#call
    const { provider, model, isLocal } = namedModel(name)
    const startMs = Date.parse(at)
    const end = this.#end
    const { first_text_ms: first, finish_reason: reason } = end ?? {}
    return {
      spanId: spanIdOf(this.#run.run_id, 'call', call_id),
      name: `chat ${model}`,
      kind: isLocal ? 'internal' : 'client',
      startMs,
      endMs: end === undefined ? endMs : startMs + end.duration_ms,
      attributes: {
        ...attributesOf({
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': provider,
          'gen_ai.request.model': model,
          'gen_ai.conversation.id': this.#run.session_id,
          'gen_ai.response.finish_reasons': reason === undefined ? undefined : [reason],
          'gen_ai.response.time_to_first_chunk': first === undefined ? undefined : first / 1000,
          'agentserve.call.id': call_id,
          'gen_ai.output.messages':
            this.#parts.length === 0
              ? undefined
              : listText(
                  [{ role: 'assistant', parts: this.#parts, ...(reason !== undefined && { finish_reason: reason }) }],
                  this.#maxCharacters,
                ),
        }),
        ...usageAttributes(end?.usage),
        ...this.#attributes,
      },
      failure: end === undefined ? cut : this.#failure,
    }
  }
}

export function usageAttributes(usage: Usage | null | undefined): Attributes {
  if (usage === null || usage === undefined) return {}
  return attributesOf({
    'gen_ai.usage.input_tokens': usage.input_tokens,
    'gen_ai.usage.output_tokens': usage.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cached_input_tokens,
    'gen_ai.usage.cache_write.input_tokens': usage.cache_write_tokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning_tokens,
  })
}
