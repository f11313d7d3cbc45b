import { AppError } from '../../core/error.ts'
import type { InputRequired, RunEvent, StepStart } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { Ask, Asked, RunContext, Runnable } from '../../core/runnable.ts'
import { Slots } from '../../runtime/slots.ts'
import { wrong } from '../../schema/check.ts'
import { show } from '../../schema/field.ts'
import { deriveContext } from './derived-context.ts'
import { type Asking, type EarlierAsk, performAsk } from './perform-ask.ts'
import { toQuestion } from './question.ts'

/** Asks an entity itself; `name` is that of its step. */
type AskEntity = (name: string, entity: Runnable, question: unknown) => Promise<Asked>

export interface ScopeOptions {
  /** The step or tool call whose code asks. */
  parent?: string | undefined
  /** The events of the code that is called again from its beginning. */
  earlier?: readonly RunEvent[] | undefined
  /** Called when children wait and no child works. Absent: nothing can wait here. */
  onWaiting?: ((requests: readonly InputRequired[]) => void) | undefined
}

const byAsk = new WeakMap<Ask, AskEntity>()

/**
 * The asks of one piece of code: a `run`, a tool call, a guardrail. Code that is called again gets the recorded answers, by
 * name and occurrence.
 */
export class AskScope {
  readonly ask: Ask
  readonly #asking: Asking
  readonly #options: ScopeOptions
  readonly #occurrences = new Map<string, number>()
  #earlier: Map<string, EarlierAsk> | undefined
  #active = 0
  #requests: InputRequired[] = []
  #paused = false

  constructor(asking: Asking, options: ScopeOptions = {}) {
    this.#asking = asking
    this.#options = options
    this.ask = async (id, question) => this.#perform(id, entityOf(asking.context, id), question)
    byAsk.set(this.ask, (name, entity, question) => this.#perform(name, entity, question))
  }

  async #perform(name: string, entity: Runnable, question: unknown): Promise<Asked> {
    const { parent, earlier: events = [], onWaiting } = this.#options
    const input = toQuestion(name, question)
    const occurrence = (this.#occurrences.get(name) ?? 0) + 1
    this.#occurrences.set(name, occurrence)
    this.#earlier ??= earlierAsks(events, parent)
    const earlier = this.#earlier.get(keyOf(name, occurrence))
    const start: AskStepStart = { step_id: earlier?.stepId ?? createId('step'), name }
    if (parent !== undefined) start.parent_id = parent
    this.#active++
    try {
      const mayNotWait = onWaiting === undefined
      const outcome = await performAsk(this.#asking, { start, entity, input, earlier, changed, mayNotWait })
      if ('asked' in outcome) return outcome.asked
      this.#requests.push(...outcome.requests)
    } finally {
      this.#active--
      this.#pauseWhenIdle()
    }
    return new Promise<never>(() => {})
  }

  /** The code after an answer has asked again by then. */
  #pauseWhenIdle(): void {
    if (this.#requests.length === 0) return
    setImmediate(() => {
      if (this.#active > 0 || this.#paused) return
      this.#paused = true
      this.#options.onWaiting?.(this.#requests)
    })
  }
}

type AskStepStart = Pick<StepStart, 'step_id' | 'name' | 'parent_id' | 'after'>

/** The context with an `ask` for all code of the run that has none of its own. */
export function withAsk(context: RunContext, options: ScopeOptions = {}): RunContext {
  let scope: AskScope | undefined
  const open = () => {
    scope ??= new AskScope(askingOf(context), options)
    return scope
  }
  const ask: Ask = async (id, question) => open().ask(id, question)
  byAsk.set(ask, async (...call) => askEntity(open().ask, ...call))
  return deriveContext(context, { ask })
}

/** The same code asks an entity that may not be registered. */
export function askEntity(ask: Ask, ...call: Parameters<AskEntity>): Promise<Asked> {
  const perform = byAsk.get(ask)
  if (perform === undefined) throw new AppError('internal', 'This `ask` belongs to no run.')
  return perform(...call)
}

const slots = new WeakMap<AbortSignal, Slots>()

/** What all asks of the run share. The signal is one per execution of a run. */
export function askingOf(context: RunContext, emit = context.emit): Asking {
  const { signal, maxAsks } = context
  const known = slots.get(signal) ?? new Slots(maxAsks)
  slots.set(signal, known)
  return { context, emit, slots: known }
}

/** Throws `agent_not_found`, and `invalid_request` for anything but an id. */
export function entityOf(context: RunContext, id: unknown): Runnable {
  if (typeof id !== 'string' || id === '') {
    throw wrong(
      'id',
      `ask() needs the id of an agent, a team or a workflow, not ${id === '' ? 'an empty text' : show(id)}`,
    )
  }
  return context.entity(id)
}

function earlierAsks(events: readonly RunEvent[], parent: string | undefined): Map<string, EarlierAsk> {
  const asks = new Map<string, EarlierAsk & { runIds: string[] }>()
  const byName = new Map<string, EarlierAsk>()
  const count = new Map<string, number>()
  for (const event of events) {
    if (event.type === 'step_start' && event.kind === 'ask' && event.parent_id === parent) {
      const { step_id: stepId, name, child_run_id: runId } = event
      let ask = asks.get(stepId)
      if (ask === undefined) {
        ask = { stepId, runIds: [] }
        asks.set(stepId, ask)
        const occurrence = (count.get(name) ?? 0) + 1
        count.set(name, occurrence)
        byName.set(keyOf(name, occurrence), ask)
      }
      if (runId !== undefined && !ask.runIds.includes(runId)) ask.runIds.push(runId)
    } else if (event.type === 'step_end' && event.status !== 'cancelled') {
      const ask = asks.get(event.step_id)
      if (ask !== undefined) ask.end ??= event
    }
  }
  return byName
}

function keyOf(name: string, occurrence: number): string {
  return `${name}#${occurrence}`
}

function changed(how: string): AppError {
  return new AppError(
    'run_failed',
    `After the pause ${how} than before it. The code is called again from its beginning, so it must ask the same questions.`,
  )
}
