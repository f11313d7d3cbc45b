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
} from '../event.ts'
import { addToParts, contentOf, type Message, type Part } from '../message.ts'
import { addModelUsage, addUnreported, addUsage, type ModelUsage, modelUsageOf, type Run, type Usage } from '../run.ts'

/** A run's output built from its events, live or after its process died. */
export class RunFold {
  readonly sources: SourceEvent[] = []
  /** What it asked for since it started or was last resumed. */
  requests: InputRequired[] = []
  usage: Usage | null = null
  /** Amounts to `usage`; undefined without ended calls. */
  #byModel: ModelUsage[] | undefined
  /** The models of the calls under way. */
  #models: Map<string, string> | undefined
  /** The steps under way that have a run of their own. */
  #children: Set<string> | undefined
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
    else if (event.type === 'model_call_start') this.#beginCall(event)
    else if (event.type === 'model_call_end') this.#endCall(event)
    else if (event.type === 'step_start') {
      if (event.child_run_id !== undefined) this.#children = (this.#children ?? new Set()).add(event.step_id)
    } else if (event.type === 'step_end') this.#endStep(event)
  }

  /** Adds recorded events. The first and the last event of a run are ignored. */
  addRecorded(events: readonly RunEvent[]): void {
    for (const { run_id: _run, seq: _seq, at: _at, ...event } of events) {
      if (event.type === 'run_resumed') this.requests = []
      else if (event.type !== 'run_start' && !isFinalEvent(event)) this.add(event)
    }
  }

  /** The model of a call under way. */
  modelOf(callId: string): string | undefined {
    return this.#models?.get(callId)
  }

  /** As a run has it that ends now: what is under way is cut off. */
  used(): Pick<Run, 'usage' | 'usage_by_model'> {
    const { usage } = this
    let sums = this.#byModel
    for (const model of this.#models?.values() ?? []) sums = addUnreported(sums ?? [], model)
    for (const _step of this.#children ?? []) sums = addUnreported(sums ?? [], null)
    return sums === undefined ? { usage } : { usage, usage_by_model: sums }
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

  #beginCall({ call_id: callId, model }: ModelCallStart): void {
    this.#models ??= new Map()
    this.#models.set(callId, model)
  }

  /** The ends of calls in records of earlier versions don't name the model. */
  #endCall({ call_id: callId, model: named, usage, refused, repeated }: ModelCallEnd): void {
    const model = named ?? this.modelOf(callId) ?? null
    this.#models?.delete(callId)
    if (usage !== null) {
      this.usage = addUsage(this.usage, usage)
      this.#byModel = addModelUsage(this.#byModel ?? [], model, usage)
    } else if (refused !== true && repeated !== true) this.#byModel = addUnreported(this.#byModel ?? [], model)
  }

  #endStep({ step_id: stepId, usage, usage_by_model: byModel }: StepEnd): void {
    this.#children?.delete(stepId)
    if (usage !== undefined) this.usage = addUsage(this.usage, usage)
    else if (byModel === undefined) return
    for (const sum of modelUsageOf(usage ?? null, byModel)) {
      this.#byModel = addModelUsage(this.#byModel ?? [], sum.model, sum)
    }
  }

  #fits(event: TextDelta | DataEvent): boolean {
    this.#characters += event.type === 'data' ? JSON.stringify(event.data).length : event.text.length
    return this.#characters <= this.#maxCharacters
  }
}
