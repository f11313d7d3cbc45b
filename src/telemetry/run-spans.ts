import type { RunEvent } from '../core/event.ts'
import type { TracedCall } from '../core/events/trace.ts'
import { addToParts, type Part } from '../core/message.ts'
import { addUsage, type Run, type Usage } from '../core/run.ts'
import { ChatSpan } from './chat-span.ts'
import { contentParts, listText } from './contents.ts'
import { attributesOf, type SpanDraft } from './draft.ts'
import { failureOf, runAttributes, runSpanName } from './run-span.ts'
import { spanIdOfRun } from './trace-context.ts'
import { cutToolSpan, retrievalSpan, stepSpan, type ToolCalled, toolSpan, type Work } from './work-spans.ts'

/** A run at its end or pause. */
export type EndedRun = Pick<
  Run,
  | 'run_id'
  | 'session_id'
  | 'entity_id'
  | 'entity_kind'
  | 'status'
  | 'created_at'
  | 'started_at'
  | 'completed_at'
  | 'cancellation_reason'
  | 'error'
  | 'cache_hit'
>

export interface RunSpansOptions {
  /** Number of the first event of this stretch: of the run's start, or of a resumption. */
  firstSeq: number
  /** The same of the stretch before it. */
  previousSeq?: number | undefined
  /** Whether contents are told. */
  withContents: boolean
  maxCharacters: number
}

/** Of one stretch; a run that does more is told in part, and its record has everything. */
const maxSpans = 1_000

/** The spans of a run from its start or last resumption to its end or pause, made from its events in their order. */
export class RunSpans {
  readonly #run: EndedRun
  readonly #options: RunSpansOptions
  readonly #work: Work
  readonly #chats = new Map<string, ChatSpan>()
  readonly #tools = new Map<string, ToolCalled>()
  readonly #waiting = new Set<string>()
  readonly #steps = new Map<string, Extract<RunEvent, { type: 'step_start' }>>()
  readonly #done: SpanDraft[] = []
  readonly #answer: Part[] = []
  #count = 0
  #open: ChatSpan | undefined
  #model: string | undefined
  #usage: Usage | null = null
  #startMs: number
  #lastMs: number

  constructor(run: EndedRun, options: RunSpansOptions) {
    this.#run = run
    this.#options = options
    this.#startMs = Date.parse(run.started_at ?? run.created_at)
    this.#lastMs = this.#startMs
    const { withContents, maxCharacters, firstSeq } = options
    this.#work = { run, firstSeq, withContents, maxCharacters }
  }

  add(event: RunEvent): void {
    const isResumption = event.type === 'run_resumed' && event.seq === this.#options.firstSeq
    if (isResumption) this.#startMs = Date.parse(event.at)
    const isEnd = event.type === 'run_end' || event.type === 'run_error'
    if (!isEnd) this.#lastMs = Math.max(this.#lastMs, Date.parse(event.at))
    if (this.#options.withContents) this.#addContent(event)
    this.#addWork(event)
  }

  #addWork(event: RunEvent): void {
    if (beginnings.has(event.type) && ++this.#count > maxSpans) return
    switch (event.type) {
      case 'model_call_start':
        this.#open = new ChatSpan(event, this.#work)
        this.#chats.set(event.call_id, this.#open)
        this.#model ??= event.model
        return
      case 'model_call_end':
        this.#chats.get(event.call_id)?.end(event)
        this.#open = undefined
        if (event.usage !== null && event.repeated !== true) this.#usage = addUsage(this.#usage, event.usage)
        return
      case 'model_fallback':
        this.#chats.get(event.call_id)?.fallBack(event)
        return
      case 'retrieval':
        this.#done.push(retrievalSpan(this.#work, event))
        return
      case 'tool_call':
        this.#tools.set(event.call_id, event)
        return
      case 'input_required':
        if (event.call_id !== undefined) this.#waiting.add(event.call_id)
        return
      case 'tool_result': {
        const span = toolSpan(this.#work, event, this.#tools.get(event.call_id))
        if (span !== undefined) this.#done.push(span)
        this.#tools.delete(event.call_id)
        return
      }
      case 'step_start':
        this.#steps.set(event.step_id, event)
        return
      case 'step_end': {
        const start = this.#steps.get(event.step_id)
        this.#steps.delete(event.step_id)
        if (start !== undefined) this.#done.push(stepSpan(this.#work, start, event))
        if (event.usage !== undefined) this.#usage = addUsage(this.#usage, event.usage)
        return
      }
    }
  }

  #addContent(event: RunEvent): void {
    addToParts(this.#answer, event)
    if (event.type === 'text_delta') this.#open?.addText('text', event.text)
    else if (event.type === 'reasoning_delta') this.#open?.addText('reasoning', event.text)
    else if (event.type === 'tool_call') this.#open?.addToolCall(event)
  }

  /** The exact prompt of a call of this stretch. */
  describe(call: TracedCall): void {
    this.#chats.get(call.call_id)?.describe(call)
  }

  /** All spans, the run's first. `question`: the parts of its input, to be told. */
  drafts(question?: readonly Part[]): SpanDraft[] {
    const { status, completed_at } = this.#run
    // What a process did before it died ends with what it recorded last, not when another process found it.
    const endMs = status === 'interrupted' || completed_at === null ? this.#lastMs : Date.parse(completed_at)
    const failure = failureOf(this.#run, this.#options.withContents)
    const drafts = [this.#runDraft(endMs, failure, question), ...this.#done]
    for (const chat of this.#chats.values()) if (!chat.isRepeated) drafts.push(chat.draft(endMs, failure))
    for (const [callId, call] of this.#tools) {
      if (failure === undefined || this.#waiting.has(callId)) continue
      drafts.push(cutToolSpan(this.#work, call, endMs, failure))
    }
    for (const start of this.#steps.values()) drafts.push(stepSpan(this.#work, start, undefined, endMs, failure))
    for (const draft of drafts) clamp(draft, this.#startMs, endMs)
    return drafts
  }

  #runDraft(endMs: number, failure: SpanDraft['failure'], question: readonly Part[] | undefined): SpanDraft {
    const { firstSeq, previousSeq, maxCharacters } = this.#options
    const messages = (role: string, parts: readonly Part[]) =>
      parts.length === 0 ? undefined : listText([{ role, parts: contentParts(parts) }], maxCharacters)
    return {
      spanId: spanIdOfRun(this.#run.run_id, firstSeq),
      name: runSpanName(this.#run),
      kind: 'internal',
      startMs: this.#startMs,
      endMs,
      attributes: {
        ...runAttributes(this.#run, this.#model, this.#usage),
        ...attributesOf({
          'agentserve.spans_left_out': this.#count > maxSpans ? this.#count - maxSpans : undefined,
          'gen_ai.input.messages': messages('user', question ?? []),
          'gen_ai.output.messages': messages('assistant', this.#answer),
        }),
      },
      failure,
      links: previousSeq === undefined ? undefined : [spanIdOfRun(this.#run.run_id, previousSeq)],
    }
  }
}

const beginnings: ReadonlySet<string> = new Set(['model_call_start', 'retrieval', 'tool_call', 'step_start'])

/** Durations are of another clock than times, and what is repeated took its time in another run. */
function clamp(draft: SpanDraft, fromMs: number, toMs: number): void {
  draft.endMs = Math.min(Math.max(draft.endMs, fromMs), Math.max(toMs, fromMs))
  draft.startMs = Math.min(Math.max(draft.startMs, fromMs), draft.endMs)
}
