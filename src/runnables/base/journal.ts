import { AppError } from '../../core/error.ts'
import type { RunEvent, StepEnd } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import { answerTo } from '../../core/waiting.ts'

export interface Decision {
  approved: boolean
  input?: Json | undefined
  /** Why it was refused. */
  reason?: string | undefined
}

/** The place of what is asked before a step, which is no part of the code's order: a finished step asks no more. */
export const beside = 'again'

type End = StepEnd | Decision

interface Recorded {
  name: string
  /** A step that is repeated keeps its id. */
  id: string
  parent: string | undefined
  /** The entry that the same strand of code had reached before. */
  after: string | undefined
  end?: End
  /** The runs that were asked, the newest last. */
  runs?: string[]
  /** The resumed code has reached it again. */
  isBack?: boolean
}

/** How long concurrent code may take to reach a recorded entry again. */
const patienceMs = 5000

/**
 * The recorded steps and approvals of a run, by name and occurrence. Code that repeats its actions gets the recorded
 * results; code that deviates gets an error before it does anything else.
 */
export class Journal {
  readonly #recorded = new Map<string, Recorded>()
  readonly #occurrences = new Map<string, number>()
  readonly #onChanged: (error: AppError) => void
  readonly #waiting = new Set<() => void>()

  /** `onChanged`: the code deviates from the record; it may catch the error, but must not continue. */
  constructor(events: readonly RunEvent[], onChanged: (error: AppError) => void = () => {}) {
    this.#onChanged = onChanged
    this.#read(events)
  }

  /** The key of the next occurrence of this name, in the step `parent` if given. `id`: the recorded one. */
  next(
    kind: 'step' | 'approval' | 'ask',
    name: string,
    parent?: string,
  ): { key: string; number: number; id: string | undefined } {
    const scope = `${parent ?? ''}/${kind}/${name}`
    const number = (this.#occurrences.get(scope) ?? 0) + 1
    this.#occurrences.set(scope, number)
    const key = `${scope}#${number}`
    return { key, number, id: this.#recorded.get(key)?.id }
  }

  /**
   * The recorded end of the entry, if any. `after`: the entry that the same strand of code reached before. Throws
   * `run_interrupted` when the recorded run did something else here.
   */
  async enter(key: string, name: string, after?: string, parent?: string): Promise<End | undefined> {
    const recorded = this.#recorded.get(key)
    if (recorded !== undefined) {
      if (recorded.after !== after) {
        const [then, now] = [this.#nameOf(recorded.after), this.#nameOf(after)]
        throw this.changed(`'${name}' now comes ${now}; it used to come ${then}`)
      }
      recorded.isBack = true
      for (const wake of this.#waiting) wake()
      return recorded.end
    }
    // Concurrent code may reach its recorded entries later than this one.
    const missing = await this.#missing((other) => other.after === after && other.parent === parent)
    if (missing !== undefined) throw this.changed(`'${name}' now comes where '${missing.name}' used to come`)
    return undefined
  }

  /** The child runs of a recorded ask, the newest last. */
  runsOf(key: string): readonly string[] {
    return this.#recorded.get(key)?.runs ?? []
  }

  /** Throws `run_interrupted` when the code has ended without repeating all recorded entries. */
  async assertComplete(): Promise<void> {
    const missing = await this.#missing(({ end }) => end !== undefined)
    if (missing !== undefined) throw this.changed(`it ended without '${missing.name}'`)
  }

  /** An entry of these that the code has not reached again within the patience. */
  async #missing(isMeant: (recorded: Recorded) => boolean): Promise<Recorded | undefined> {
    const find = () => [...this.#recorded.values()].find((recorded) => !recorded.isBack && isMeant(recorded))
    if (find() === undefined) return undefined
    await new Promise<void>((resolve) => {
      const stop = () => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve()
      }
      const look = () => find() === undefined && stop()
      const timer = setTimeout(stop, patienceMs).unref()
      this.#waiting.add(look)
    })
    return find()
  }

  #nameOf(id: string | undefined): string {
    if (id === undefined) return 'first'
    const recorded = [...this.#recorded.values()].find((other) => other.id === id)
    return recorded === undefined ? 'after a new step' : `after '${recorded.name}'`
  }

  /** The error for code that deviates from the record; ends the run. */
  changed(how: string): AppError {
    const error = new AppError(
      'run_interrupted',
      `The workflow's code has changed since this run began: ${how}. Restore the old code to resume the run, or cancel the run.`,
    )
    this.#onChanged(error)
    return error
  }

  #read(events: readonly RunEvent[]): void {
    const byId = new Map<string, Recorded>()
    const begin = (kind: 'step' | 'approval' | 'ask', recorded: Recorded) => {
      if (byId.has(recorded.id)) return
      byId.set(recorded.id, recorded)
      this.#recorded.set(this.next(kind, recorded.name, recorded.parent).key, recorded)
    }
    const end = (id: string, how: End) => {
      const recorded = byId.get(id)
      if (recorded !== undefined) recorded.end ??= how
    }
    const open: string[] = []
    for (const event of events) {
      if (event.type === 'step_start') {
        const { name, step_id: id, parent_id: parent, after, kind = 'step', child_run_id: run } = event
        begin(kind, { name, id, parent, after })
        if (kind === 'ask' && run !== undefined) addRun(byId.get(id), run)
      } else if (event.type === 'step_end') {
        if (event.status !== 'cancelled') end(event.step_id, event)
      } else if (event.type === 'input_required' && event.call_id !== undefined && event.child_run_id === undefined) {
        const { call_id: id, after } = event
        const name = id.slice(0, id.lastIndexOf('#'))
        begin('approval', { name, id, parent: undefined, after, isBack: after === beside })
        open.push(id)
      } else if (event.type === 'run_resumed') {
        for (const id of open.splice(0)) {
          const { approved, input, reason } = answerTo(id, event)
          if (approved !== undefined) end(id, { approved, input, reason })
        }
      }
    }
    this.#occurrences.clear()
    // The entries inside a finished step are not repeated.
    for (const recorded of byId.values()) {
      if (byId.get(recorded.parent ?? '')?.end !== undefined) recorded.isBack = true
    }
  }
}

function addRun(recorded: Recorded | undefined, run: string): void {
  if (recorded === undefined || recorded.runs?.at(-1) === run) return
  recorded.runs = [...(recorded.runs ?? []), run]
}

/** The id of an approval, from its name and occurrence. */
export function approvalId(name: string, number: number): string {
  return `${name}#${number}`
}
