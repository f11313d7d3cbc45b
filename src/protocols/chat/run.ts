import type { RunEndEvent, RunErrorEvent, Stamp, StepEnd, StepStart } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import { addUsage, type Usage } from '../../core/run.ts'
import { type Block, Blocks } from '../blocks.ts'
import { explainEnd } from '../explain-end.ts'
import type { FileAddress } from '../kept-file.ts'
import type { ShownEvent } from '../projection.ts'
import { ChatCalls } from './calls.ts'
import type { ChatChunk, ChatMetadata, FinishReason } from './chunk.ts'
import { fileChunks, retrievalChunk, sourceChunk } from './source.ts'

export interface ChatRunOptions {
  fileAddress: FileAddress
  /** For `useChat` of ai 5. */
  ui5: boolean
  /** The number of the `run_resumed` with which the stream begins: the client has the message up to there. */
  resumedAt?: number | undefined
}

/** The id of a run's answer as a message. The recorded message has a random one, which the stream does not know. */
export function messageIdOf(runId: string): string {
  return `msg_${runId.replace(/^run_/, '')}`
}

/** The run whose answer has this id. */
export function runIdOf(messageId: string): string {
  return `run_${messageId.replace(/^msg_/, '')}`
}

const none: readonly ChatChunk[] = []

/** A run as chunks of one message: live, replayed and, folded, after a reload. */
export class ChatRun {
  readonly #options: ChatRunOptions
  readonly #blocks = new Blocks()
  readonly #calls: ChatCalls
  readonly #steps = new Map<string, StepStart>()
  #sessionId = ''
  /** The open step; `called`: with a model call in it. */
  #step: { called: boolean } | undefined
  /** A model call has begun, and nothing of it has been shown. */
  #pending = false
  #usage: Usage | null = null
  #reason = ''

  constructor(options: ChatRunOptions) {
    this.#options = options
    this.#calls = new ChatCalls(options.ui5)
  }

  /** The chunks of the next event. */
  add(event: ShownEvent): readonly ChatChunk[] {
    switch (event.type) {
      case 'text_delta':
        return event.text === '' ? none : this.#delta('text', event.text, event.seq)
      case 'reasoning_delta':
        return event.text === '' ? none : this.#delta('reasoning', event.text, event.seq)
      case 'run_start': {
        this.#sessionId = event.session_id
        const { run_id: runId, session_id: sessionId, entity_id: agentId, at: createdAt } = event
        const messageMetadata = { runId, sessionId, agentId, createdAt }
        return [{ type: 'start', messageId: messageIdOf(runId), messageMetadata }]
      }
      case 'run_resumed': {
        const closed = this.#closeStep()
        const begins = event.seq === this.#options.resumedAt
        const before = begins ? [{ type: 'start', messageId: messageIdOf(event.run_id) } as const] : closed
        return [...before, ...this.#calls.answer(event, event.run_id)]
      }
      case 'model_call_start':
        return this.#startCall()
      case 'model_call_end':
        if (event.usage !== null) this.#usage = addUsage(this.#usage, event.usage)
        this.#reason = event.finish_reason
        return none
      case 'retrieval':
        return [retrievalChunk(event)]
      case 'source':
        return this.#show([sourceChunk(event)])
      case 'tool_input_delta':
        return this.#show(this.#calls.input(event))
      case 'tool_call':
        return this.#show(this.#calls.call(event))
      case 'tool_progress':
        return this.#append(this.#calls.progress(event))
      case 'tool_result':
        return this.#append(this.#calls.result(event))
      case 'input_required':
        return this.#show(this.#calls.ask(event, event.run_id))
      case 'data':
        return this.#show([{ type: 'data-output', id: `d${event.seq}`, data: event.data }])
      case 'file':
        return this.#show(fileChunks(event, this.#sessionId, this.#options.fileAddress))
      case 'step_start':
        this.#steps.set(event.step_id, event)
        return this.#append([stepChunk(event, { status: 'running' })])
      case 'step_end':
        return this.#append([this.#endStep(event)])
      case 'run_end':
      case 'run_error':
        return [...this.#closeStep(), ...this.#end(event)]
      default:
        return none
    }
  }

  #delta(kind: Block['kind'], delta: string, seq: number): ChatChunk[] {
    const { block, opened, closed } = this.#blocks.delta(kind, seq)
    const id = idOf(block)
    const chunk: ChatChunk = { type: `${kind}-delta`, id, delta }
    if (!opened) return [chunk]
    const chunks: ChatChunk[] = closed === undefined ? [] : [endOf(closed)]
    return [...chunks, ...this.#openStep(), { type: `${kind}-start`, id }, chunk]
  }

  /** Chunks that are part of a step. */
  #show(chunks: readonly ChatChunk[]): ChatChunk[] {
    return chunks.length === 0 ? [] : [...this.#closeBlock(), ...this.#openStep(), ...chunks]
  }

  /** Chunks that may stand beside steps, or belong to an earlier one. */
  #append(chunks: readonly ChatChunk[]): ChatChunk[] {
    return [...this.#closeBlock(), ...chunks]
  }

  #openStep(): ChatChunk[] {
    if (this.#step !== undefined) return []
    this.#step = { called: this.#pending }
    this.#pending = false
    return [{ type: 'start-step' }]
  }

  /** A model call has a step of its own, together with what was shown before the first one. */
  #startCall(): ChatChunk[] {
    const block = this.#closeBlock()
    if (this.#step?.called === false) {
      this.#step.called = true
      return block
    }
    const closed = this.#closeStep()
    this.#pending = true
    return [...block, ...closed]
  }

  #closeBlock(): ChatChunk[] {
    const closed = this.#blocks.close()
    return closed === undefined ? [] : [endOf(closed)]
  }

  #closeStep(): ChatChunk[] {
    const chunks = [...this.#closeBlock(), ...this.#calls.unfinished()]
    if (this.#step === undefined) return chunks
    this.#step = undefined
    return [...chunks, { type: 'finish-step' }]
  }

  #endStep(event: StepEnd): ChatChunk {
    if (event.usage !== undefined) this.#usage = addUsage(this.#usage, event.usage)
    const { step_id, status, output, error } = event
    const start = this.#steps.get(step_id) ?? { type: 'step_start', step_id, name: step_id }
    return stepChunk(start, {
      status,
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error: error.message }),
    })
  }

  #end(event: (RunEndEvent | RunErrorEvent) & Stamp): ChatChunk[] {
    const { run_id } = event
    const usage = this.#usage === null ? {} : { usage: toUsage(this.#usage) }
    if (event.type === 'run_error') {
      const messageMetadata: ChatMetadata = { status: 'failed', ...usage }
      return [
        ...this.#calls.drop(run_id),
        { type: 'message-metadata', messageMetadata },
        { type: 'error', errorText: event.error.message },
      ]
    }
    const { status, cache_hit: cacheHit, cancellation_reason: reason = null } = event
    const messageMetadata: ChatMetadata = { status, ...usage, cacheHit }
    if (status === 'input_required') return [{ type: 'finish', finishReason: 'tool-calls', messageMetadata }]
    const dropped = this.#calls.drop(run_id)
    messageMetadata.completedAt = event.at
    if (status === 'completed')
      return [...dropped, { type: 'finish', finishReason: toReason(this.#reason), messageMetadata }]
    const told: ChatChunk = { type: 'message-metadata', messageMetadata }
    if (status === 'cancelled') return [...dropped, told, { type: 'abort', reason: reason ?? 'requested' }]
    const errorText = explainEnd({ run_id, status, error: null, cancellation_reason: reason })
    return [...dropped, told, { type: 'error', errorText }]
  }
}

function idOf({ kind, seq }: Block): string {
  return `${kind === 'text' ? 't' : 'r'}${seq}`
}

function endOf(block: Block): ChatChunk {
  return { type: `${block.kind}-end`, id: idOf(block) }
}

function stepChunk({ step_id, name, parent_id, child_run_id }: StepStart, more: JsonObject): ChatChunk {
  const data: JsonObject = { name, ...more }
  if (parent_id !== undefined) data.parent_id = parent_id
  if (child_run_id !== undefined) data.run_id = child_run_id
  return { type: 'data-step', id: step_id, data }
}

function toReason(reason: string): FinishReason {
  return reason === 'length' || reason === 'content-filter' ? reason : 'stop'
}

function toUsage(usage: Usage): JsonObject {
  const { input_tokens, output_tokens, total_tokens, cached_input_tokens, reasoning_tokens } = usage
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    totalTokens: total_tokens,
    ...(cached_input_tokens !== undefined && { cachedInputTokens: cached_input_tokens }),
    ...(reasoning_tokens !== undefined && { reasoningTokens: reasoning_tokens }),
  }
}
