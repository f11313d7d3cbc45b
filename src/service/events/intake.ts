import type { RepeatedEvent } from '../../core/again/plan.ts'
import { AppError, toAppError } from '../../core/error.ts'
import type {
  DataDelta,
  EmittedEvent,
  InputRequired,
  ModelCallEnd,
  ModelCallStart,
  ReasoningDelta,
  TextDelta,
} from '../../core/event.ts'
import type { RunFold } from '../../core/events/fold.ts'
import { type AllKnow, sendable } from '../../core/events/newer.ts'
import type { JsonObject } from '../../core/json.ts'
import type { FilePart, UploadedFilePart } from '../../core/message.ts'
import type { Emission } from '../../core/runnable.ts'
import { kindOf } from '../../core/waiting.ts'
import { compileJsonSchema } from '../../schema/json-schema.ts'
import type { RunFiles } from '../files/run-files.ts'
import { type RunBounds, RunBudget } from '../limits/run-budget.ts'
import type { PromptLog } from '../prompts/log.ts'
import type { RunRecorder } from './recorder.ts'
import { type Recordable, toDelta, toRecordable } from './to-event.ts'

const eventsPerTick = 256

export interface IntakeOptions {
  bounds: RunBounds
  fold: RunFold
  recorder: RunRecorder
  prompts: PromptLog
  files: Pick<RunFiles, 'toPart'>
  allKnow: AllKnow
  isOver: () => boolean
  /** Called with the tokens of each model call. */
  onTokens: (tokens: number) => void
  onEvent: () => void
}

/** Takes what one run emits: checks and counts it, adds it to the fold, and gives it to the recorder. */
export class RunIntake {
  readonly #options: IntakeOptions
  readonly #budget: RunBudget
  #emitted = 0
  #asked = false

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#budget = new RunBudget(options.bounds)
  }

  get asked(): boolean {
    return this.#asked
  }

  /** Gives a promise when the run has to wait. Throws `run_failed` for an invalid event, `run_limit` for too much. */
  take(emission: Emission): Promise<void> | undefined {
    const delta = toDelta(emission)
    if (delta !== undefined) return this.#addDelta(delta)
    if (isFile(emission)) return this.#addFile(emission)
    return this.#addEvent(emission)
  }

  /** Adds what the record of another run has. It was checked there, and nothing waits for its answer. */
  async repeat(events: readonly RepeatedEvent[]): Promise<void> {
    const { fold, recorder, prompts, allKnow, isOver, onEvent } = this.#options
    for (const given of events) {
      if (isOver()) return
      const sent = given.type === 'run_resumed' ? given : sendable(given, allKnow)
      if (sent === undefined || sent.type === 'data_delta') continue
      const event = sent.type === 'model_call_start' ? await prompts.record(sent) : sent
      if (event.type === 'run_resumed') fold.requests = []
      else fold.add(event)
      const wait = recorder.add(event, JSON.stringify(event).length)
      onEvent()
      await (wait ?? this.#yieldNowAndThen())
    }
    await recorder.recorded()
  }

  #addDelta(delta: TextDelta | ReasoningDelta): Promise<void> | undefined {
    this.#budget.addText(delta.text)
    return delta.text === '' ? this.#yieldNowAndThen() : this.#add(delta, delta.text.length)
  }

  #addEvent(emission: Emission, isInstead = false): Promise<void> | undefined {
    const recordable = toRecordable(emission, this.#budget)
    const { event, characters } = recordable
    const sent = isInstead ? event : sendable(event, this.#options.allKnow)
    if (sent !== event) return this.#addInstead(sent)
    if (event.type === 'data_delta') return this.#showPartial(event, recordable)
    this.#budget.addEvent(recordable)
    if (event.type === 'model_call_start') return this.#addCall(event, characters)
    if (event.type === 'input_required') return this.#addRequest(event, characters)
    if (event.type === 'model_call_end') this.#endCall(event)
    return this.#add(event, characters)
  }

  /** In place of an event that not every server knows. */
  #addInstead(event: EmittedEvent | undefined): Promise<void> | undefined {
    if (event === undefined) {
      this.#options.onEvent()
      return this.#yieldNowAndThen()
    }
    const delta = toDelta(event)
    return delta === undefined ? this.#addEvent(event, true) : this.#addDelta(delta)
  }

  /** It reaches live readers only: neither the record nor the fold, and it counts toward no limit of the run. */
  #showPartial(event: DataDelta, recordable: Recordable): Promise<void> | undefined {
    const { recorder, isOver, onEvent } = this.#options
    this.#budget.assertPartialFits(recordable)
    if (isOver()) return undefined
    recorder.showPartial(event)
    onEvent()
    // An agent that emits nothing else never reaches a limit, so others run between any two.
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** Only once its content is stored: the event names it. */
  async #addFile(emission: FilePart | UploadedFilePart): Promise<void> {
    await this.#addEvent(await this.#options.files.toPart(emission))
  }

  async #addCall(call: ModelCallStart, characters: number): Promise<void> {
    const { fold, isOver, prompts } = this.#options
    if (isOver()) return
    // Before its end can come.
    fold.add(call)
    const recorded = await prompts.record(call)
    if (!isOver()) await this.#record(recorded, characters)
  }

  #endCall(call: ModelCallEnd): void {
    const model = this.#options.fold.modelOf(call.call_id)
    if (model !== undefined) call.model = model
    // Computed when it is read.
    delete call.cost
    if (call.usage !== null) this.#options.onTokens(call.usage.total_tokens)
  }

  /** A schema that can't be read would leave a request that can't be answered. */
  async #addRequest(request: InputRequired, characters: number): Promise<void> {
    request.kind = kindOf(request)
    if (request.schema !== undefined) await assertReadable(request.schema)
    await this.#add(request, characters)
  }

  #add(event: Exclude<EmittedEvent, DataDelta>, characters: number): Promise<void> | undefined {
    const { fold, isOver } = this.#options
    if (isOver()) return undefined
    if (event.type === 'input_required') this.#asked = true
    fold.add(event)
    return this.#record(event, characters)
  }

  #record(event: Exclude<EmittedEvent, DataDelta>, characters: number): Promise<void> | undefined {
    const { recorder, onEvent } = this.#options
    const wait = recorder.add(event, characters)
    onEvent()
    return wait ?? this.#yieldNowAndThen()
  }

  /** Yields to the event loop now and then, for a run that never waits itself. */
  #yieldNowAndThen(): Promise<void> | undefined {
    this.#emitted++
    return this.#emitted % eventsPerTick === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }
}

function isFile(emission: Emission): emission is FilePart | UploadedFilePart {
  return (emission as { type?: unknown } | null | undefined)?.type === 'file'
}

async function assertReadable(schema: JsonObject): Promise<void> {
  try {
    await compileJsonSchema(schema, 'schema')
  } catch (error) {
    const { code, message } = toAppError(error)
    if (code !== 'invalid_request') throw error
    throw new AppError('run_failed', `The agent emitted an input_required whose ${message}`)
  }
}
