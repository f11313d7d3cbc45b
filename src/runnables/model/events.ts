import type { TextStreamPart, ToolSet } from 'ai'
import { AppError, messageOf } from '../../core/error.ts'
import type {
  EmittedEvent,
  ModelCallEnd,
  ModelCallStart,
  ModelFallback,
  ToolInputDelta,
  ToolResult,
} from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/run.ts'
import { isRefusal } from '../../models/failure.ts'
import { toJson } from '../base/json-value.ts'
import { describeFiles } from '../files/inline.ts'
import { ToolInputs } from './tool-inputs.ts'
import { toUsage } from './usage.ts'

/** Converts the AI SDK's stream to events. One per run: it knows the open model call and tool call starts. */
export class ModelEvents {
  #call: { id: string; startedAt: number; firstTextAt?: number; isRefused?: boolean } | undefined
  /** Whether the open call has said nothing yet. */
  #isSilent = false
  readonly #toolCalls = new Map<string, number>()
  #inputs: ToolInputs | undefined
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
    this.#isSilent = true
    return {
      type: 'model_call_start',
      call_id: this.#call.id,
      model,
      messages: toJson(describeFiles(messages)),
      ...(tools === undefined ? {} : { tools: toJson(tools) }),
      ...(settings === undefined ? {} : { settings: toJson(settings) as JsonObject }),
    }
  }

  /** Why the open call has failed; its end follows. */
  failCall(error: unknown): void {
    if (this.#call !== undefined && this.#isSilent) this.#call.isRefused = isRefusal(error)
  }

  endCall(usage: Usage | null, finishReason: string): (ToolInputDelta | ModelCallEnd)[] {
    const call = this.#call
    if (call === undefined) return []
    this.#call = undefined
    const { id: call_id, startedAt, firstTextAt, isRefused } = call
    const duration_ms = this.#now() - startedAt
    const end: ModelCallEnd = {
      type: 'model_call_end',
      call_id,
      usage,
      finish_reason: finishReason,
      duration_ms,
    }
    if (isRefused === true) end.refused = true
    if (firstTextAt !== undefined) end.first_text_ms = firstTextAt - startedAt
    const inputs = this.#inputs?.endAll() ?? []
    return [...inputs, end]
  }

  /** The end of the open call, whose place another model takes. */
  fallBack({ from, to, reason }: Omit<ModelFallback, 'type' | 'call_id'>): EmittedEvent[] {
    const call = this.#call
    if (call === undefined) return []
    return [...this.endCall(null, 'error'), { type: 'model_fallback', call_id: call.id, from, to, reason }]
  }

  /** Throws the provider's error for an error part, and an error for an answer that broke off. `output`: of a tool, as recorded. */
  of(part: TextStreamPart<ToolSet>, output?: unknown): EmittedEvent[] {
    switch (part.type) {
      case 'text-delta':
        if (part.text === '') return []
        if (this.#isSilent) this.#firstText()
        return [{ type: 'text_delta', text: part.text }]
      case 'reasoning-delta':
        if (part.text === '') return []
        if (this.#isSilent) this.#firstText()
        return [{ type: 'reasoning_delta', text: part.text }]
      case 'tool-input-start':
        this.#inputs ??= new ToolInputs(this.#now)
        this.#inputs.start(part.id, part.toolName)
        return []
      case 'tool-input-delta':
        return this.#inputs?.add(part.id, part.delta) ?? []
      case 'tool-input-end':
        return this.#inputs?.end(part.id) ?? []
      case 'tool-call':
        this.#toolCalls.set(part.toolCallId, this.#now())
        return [{ type: 'tool_call', call_id: part.toolCallId, name: part.toolName, input: toJson(part.input) }]
      case 'tool-result':
        return [this.#toolEnd(part, { output: toJson(output) })]
      case 'tool-error':
        return [this.#toolEnd(part, { error: { message: messageOf(part.error) } })]
      case 'tool-output-denied':
        return [this.#toolEnd(part, this.#refusal(part.toolCallId))]
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

  #firstText(): void {
    this.#isSilent = false
    if (this.#call !== undefined) this.#call.firstTextAt = this.#now()
  }

  /** A call that was approved and can't be made is no refusal. */
  #refusal(callId: string): Pick<ToolResult, 'error' | 'denied'> {
    const problem = this.#denied.get(callId)
    if (problem !== undefined) return { error: { message: problem } }
    return { error: { message: 'The call was not approved.' }, denied: true }
  }

  #toolEnd(
    { toolCallId, toolName }: { toolCallId: string; toolName: string },
    outcome: Pick<ToolResult, 'output' | 'error' | 'denied'>,
  ): EmittedEvent {
    const now = this.#now()
    // An approved call begins with the resumed run.
    const duration_ms = now - (this.#toolCalls.get(toolCallId) ?? this.#startedAt)
    this.#toolCalls.delete(toolCallId)
    return { type: 'tool_result', call_id: toolCallId, name: toolName, ...outcome, duration_ms }
  }
}
