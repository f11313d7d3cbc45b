import {
  type DataEvent,
  type EmittedEvent,
  type InputRequired,
  isFinalEvent,
  type ModelCallEnd,
  type ModelCallStart,
  type RunEvent,
  type SourceEvent,
  type StepEnd,
  type TextDelta,
} from './event.ts'
import { addToParts, contentOf, type Message, type Part } from './message.ts'
import { addModelUsage, addUsage, type ModelUsage, modelUsageOf, type Run, type Usage } from './run.ts'

/** A run's output built from its events, live or after its process died. */
export class RunFold {
  readonly sources: SourceEvent[] = []
  /** What it asked for since it started or was last resumed. */
  requests: InputRequired[] = []
  usage: Usage | null = null
  /** Amounts to `usage`; undefined without it. */
  usageByModel: ModelUsage[] | undefined
  /** The models of recorded calls under way. */
  #models: Map<string, string> | undefined
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
    else if (event.type === 'model_call_end' && event.usage !== null) this.#addCall(event, event.usage)
    else if (event.type === 'step_end' && event.usage !== undefined) this.#addChild(event, event.usage)
  }

  /** Adds recorded events. The first and the last event of a run are ignored. */
  addRecorded(events: readonly RunEvent[]): void {
    for (const { run_id: _run, seq: _seq, at: _at, ...event } of events) {
      if (event.type === 'run_resumed') this.requests = []
      else if (event.type === 'model_call_start') this.#keepModel(event)
      else if (event.type !== 'run_start' && !isFinalEvent(event)) this.add(event)
    }
  }

  /** As a run has it. */
  used(): Pick<Run, 'usage' | 'usage_by_model'> {
    const { usage, usageByModel: usage_by_model } = this
    return usage_by_model === undefined ? { usage } : { usage, usage_by_model }
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

  #keepModel({ call_id: callId, model }: ModelCallStart): void {
    this.#models ??= new Map()
    this.#models.set(callId, model)
  }

  /** The ends of calls in records of earlier versions don't name the model. */
  #addCall({ call_id: callId, model = this.#models?.get(callId) }: ModelCallEnd, usage: Usage): void {
    this.#models?.delete(callId)
    this.usage = addUsage(this.usage, usage)
    this.usageByModel = addModelUsage(this.usageByModel ?? [], model ?? null, usage)
  }

  #addChild({ usage_by_model: byModel }: StepEnd, usage: Usage): void {
    this.usage = addUsage(this.usage, usage)
    for (const sum of modelUsageOf(usage, byModel)) {
      this.usageByModel = addModelUsage(this.usageByModel ?? [], sum.model, sum)
    }
  }

  #fits(event: TextDelta | DataEvent): boolean {
    this.#characters += event.type === 'data' ? JSON.stringify(event.data).length : event.text.length
    return this.#characters <= this.#maxCharacters
  }
}
