import type { EmittedEvent, ModelCallStart } from '../../core/event.ts'
import type { RunFold } from '../../core/fold.ts'
import type { Emission } from '../../core/runnable.ts'
import { type RunBounds, RunBudget } from '../limits/run-budget.ts'
import type { PromptLog } from '../prompts/log.ts'
import type { RunRecorder } from './recorder.ts'
import { toDelta, toRecordable } from './to-event.ts'

const eventsPerTick = 256

export interface IntakeOptions {
  bounds: RunBounds
  fold: RunFold
  recorder: RunRecorder
  prompts: PromptLog
  isOver: () => boolean
  /** A model call has used so many tokens. */
  onTokens: (tokens: number) => void
  onEvent: () => void
}

/** What one run emits: checked, counted, folded and given to the recorder. */
export class RunIntake {
  readonly #options: IntakeOptions
  readonly #budget: RunBudget
  #turn = 0
  #asked = false

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#budget = new RunBudget(options.bounds)
  }

  /** Whether the run has asked for input. */
  get asked(): boolean {
    return this.#asked
  }

  /** Gives a promise when the run has to wait. Throws `run_failed` for what is no event, `run_limit` for too much. */
  take(emission: Emission): Promise<void> | undefined {
    const delta = toDelta(emission)
    if (delta !== undefined) {
      this.#budget.addText(delta.text)
      return delta.text === '' ? this.#nextTurn() : this.#add(delta, delta.text.length)
    }
    const recordable = toRecordable(emission, this.#budget)
    this.#budget.addEvent(recordable)
    const { event, characters } = recordable
    if (event.type === 'model_call_start') return this.#addCall(event, characters)
    if (event.type === 'model_call_end' && event.usage !== null) this.#options.onTokens(event.usage.total_tokens)
    return this.#add(event, characters)
  }

  async #addCall(call: ModelCallStart, characters: number): Promise<void> {
    await this.#add(await this.#options.prompts.record(call), characters)
  }

  #add(event: EmittedEvent, characters: number): Promise<void> | undefined {
    const { fold, recorder, isOver, onEvent } = this.#options
    if (isOver()) return undefined
    if (event.type === 'input_required') this.#asked = true
    fold.add(event)
    const wait = recorder.add(event, characters)
    onEvent()
    return wait ?? this.#nextTurn()
  }

  /** Now and then something to wait for, so that a run that never waits itself lets the others in. */
  #nextTurn(): Promise<void> | undefined {
    this.#turn++
    return this.#turn % eventsPerTick === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }
}
