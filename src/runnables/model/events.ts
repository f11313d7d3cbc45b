import type { LanguageModelUsage, TextStreamPart, ToolSet } from 'ai'
import { AppError, messageOf } from '../../core/error.ts'
import type { EmittedEvent, ModelCallEnd, ModelCallStart } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/run.ts'
import { toJson } from '../base/json-value.ts'
import { describeFiles } from '../files/inline.ts'

/** Converts the AI SDK's stream to events. One per run: it knows the open model call and tool call starts. */
export class ModelEvents {
  #call: { id: string; startedAt: number } | undefined
  readonly #toolCalls = new Map<string, number>()
  readonly #now: () => number
  readonly #startedAt: number

  readonly #denied: ReadonlyMap<string, string>

  /** `denied`: the reasons for approved calls that are not made, by call id. */
  constructor(denied: ReadonlyMap<string, string> = new Map(), now: () => number = Date.now) {
    this.#denied = denied
    this.#now = now
    this.#startedAt = now()
  }

  /** `messages` is the prompt as it is sent; its files are recorded by name, type and size. */
  startCall(
    model: string,
    messages: unknown,
    { tools, settings }: { tools?: unknown; settings?: unknown } = {},
  ): ModelCallStart {
    this.#call = { id: createId('call'), startedAt: this.#now() }
    return {
      type: 'model_call_start',
      call_id: this.#call.id,
      model,
      messages: toJson(describeFiles(messages)),
      ...(tools === undefined ? {} : { tools: toJson(tools) }),
      ...(settings === undefined ? {} : { settings: toJson(settings) as JsonObject }),
    }
  }

  endCall(usage: Usage | null, finishReason: string): ModelCallEnd[] {
    const call = this.#call
    if (call === undefined) return []
    this.#call = undefined
    const duration_ms = this.#now() - call.startedAt
    return [{ type: 'model_call_end', call_id: call.id, usage, finish_reason: finishReason, duration_ms }]
  }

  /** Throws the provider's error for an error part, and an error for an answer that broke off. `output`: of a tool, as recorded. */
  of(part: TextStreamPart<ToolSet>, output?: unknown): EmittedEvent[] {
    switch (part.type) {
      case 'text-delta':
        return part.text === '' ? [] : [{ type: 'text_delta', text: part.text }]
      case 'reasoning-delta':
        return part.text === '' ? [] : [{ type: 'reasoning_delta', text: part.text }]
      case 'tool-call':
        this.#toolCalls.set(part.toolCallId, this.#now())
        return [{ type: 'tool_call', call_id: part.toolCallId, name: part.toolName, input: toJson(part.input) }]
      case 'tool-result':
        // A preliminary result is followed by the final one.
        if ('preliminary' in part && part.preliminary === true) return []
        return [this.#toolEnd(part, { output: toJson(output) })]
      case 'tool-error':
        return [this.#toolEnd(part, { error: { message: messageOf(part.error) } })]
      case 'tool-output-denied':
        return [
          this.#toolEnd(part, {
            error: { message: this.#denied.get(part.toolCallId) ?? 'The call was not approved.' },
          }),
        ]
      case 'tool-approval-request':
        // The user's own code has answered it already.
        if (part.isAutomatic === true) return []
        return [
          {
            type: 'input_required',
            call_id: part.toolCall.toolCallId,
            kind: 'approval',
            tool: part.toolCall.toolName,
            prompt: `Allow the tool '${part.toolCall.toolName}' to run?${part.reason === undefined ? '' : ` ${part.reason}`}`,
            data: toJson(part.toolCall.input),
          },
        ]
      case 'finish-step':
        return this.endCall(toUsage(part.usage), part.finishReason)
      case 'finish':
        if (part.finishReason === 'interrupted' || part.finishReason === 'error') {
          throw new Error('the answer ended early')
        }
        return []
      case 'error':
        throw part.error
      case 'abort':
        throw new AppError('run_failed', `The model call was stopped: ${part.reason ?? 'it exceeded its time limit'}.`)
      default:
        return []
    }
  }

  #toolEnd(
    { toolCallId, toolName }: { toolCallId: string; toolName: string },
    outcome: { output: ReturnType<typeof toJson> } | { error: { message: string } },
  ): EmittedEvent {
    const now = this.#now()
    // An approved call begins with the resumed run.
    const duration_ms = now - (this.#toolCalls.get(toolCallId) ?? this.#startedAt)
    this.#toolCalls.delete(toolCallId)
    return { type: 'tool_result', call_id: toolCallId, name: toolName, ...outcome, duration_ms }
  }
}

/** Null when the provider reports no tokens. */
export function toUsage({
  inputTokens,
  outputTokens,
  totalTokens,
}: Pick<LanguageModelUsage, 'inputTokens' | 'outputTokens' | 'totalTokens'>): Usage | null {
  if (inputTokens === undefined && outputTokens === undefined && totalTokens === undefined) return null
  const input_tokens = inputTokens ?? 0
  const output_tokens = outputTokens ?? 0
  return { input_tokens, output_tokens, total_tokens: totalTokens ?? input_tokens + output_tokens }
}
