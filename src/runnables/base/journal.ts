import { AppError } from '../../core/error.ts'
import type { RunEvent, StepEnd } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'

/** What was decided about an approval. */
export interface Decision {
  approved: boolean
  input?: Json | undefined
}

type End = StepEnd | Decision

interface Recorded {
  name: string
  /** The step's id, which it keeps when it has to run again. */
  id: string
  parent: string | undefined
  /** What the same thread of code had come to before. */
  after: string | undefined
  end?: End
  /** The code has come to it again. */
  isBack?: boolean
}

/** How long code that stands beside the steps may take to come to one that it had come to before. */
const patienceMs = 5000

/**
 * The steps and approvals that a run has recorded, by name and occurrence. Code that does the same things as before gets the
 * same results again; code that does other things is told, before it does any of them.
 */
export class Journal {
  readonly #recorded = new Map<string, Recorded>()
  readonly #occurrences = new Map<string, number>()
  readonly #onChanged: (error: AppError) => void
  readonly #waiting = new Set<() => void>()

  /** `onChanged`: the code does other things; it may catch the error that it gets, but must not go on. */
  constructor(events: readonly RunEvent[], onChanged: (error: AppError) => void = () => {}) {
    this.#onChanged = onChanged
    this.#read(events)
  }

  /** Names an occurrence, in the step `parent` if one is given; every call is the next one. `id`: it is recorded. */
  next(
    kind: 'step' | 'approval',
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
   * How it ended, if it has. `after`: what the same thread of code has come to before. Throws `run_interrupted` when the
   * recorded run did something else here.
   */
  async enter(key: string, name: string, after?: string, parent?: string): Promise<End | undefined> {
    const recorded = this.#recorded.get(key)
    if (recorded !== undefined) {
      if (recorded.after !== after) {
        const [then, now] = [this.#nameOf(recorded.after), this.#nameOf(after)]
        throw this.#changed(`'${name}' now comes ${now}; it used to come ${then}`)
      }
      recorded.isBack = true
      for (const wake of this.#waiting) wake()
      return recorded.end
    }
    // Code beside the steps may take its time, and not always the same, before it comes to what it did here.
    const missing = await this.#missing((other) => other.after === after && other.parent === parent)
    if (missing !== undefined) throw this.#changed(`'${name}' now comes where '${missing.name}' used to come`)
    return undefined
  }

  /** Throws `run_interrupted` when the code has ended without what it had done before. */
  async assertComplete(): Promise<void> {
    const missing = await this.#missing(({ end }) => end !== undefined)
    if (missing !== undefined) throw this.#changed(`it ended without '${missing.name}'`)
  }

  /** One of these that the code has not come to again, after waiting for it. */
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

  #changed(how: string): AppError {
    const error = new AppError(
      'run_interrupted',
      `The workflow's code has changed since this run began: ${how}. Restore the old code to resume the run, or cancel the run.`,
    )
    this.#onChanged(error)
    return error
  }

  #read(events: readonly RunEvent[]): void {
    const byId = new Map<string, Recorded>()
    const begin = (kind: 'step' | 'approval', recorded: Recorded) => {
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
        begin('step', { name: event.name, id: event.step_id, parent: event.parent_id, after: event.after })
      } else if (event.type === 'step_end') {
        if (event.status !== 'cancelled') end(event.step_id, event)
      } else if (event.type === 'input_required' && event.call_id !== undefined) {
        const { call_id: id, after } = event
        begin('approval', { name: id.slice(0, id.lastIndexOf('#')), id, parent: undefined, after })
        open.push(id)
      } else if (event.type === 'run_resumed') {
        for (const id of open.splice(0)) {
          const approved = typeof event.approved === 'object' ? event.approved[id] : event.approved
          if (approved !== undefined) end(id, { approved, input: event.input })
        }
      }
    }
    this.#occurrences.clear()
    // What a finished step did inside it is not done again.
    for (const recorded of byId.values()) {
      if (byId.get(recorded.parent ?? '')?.end !== undefined) recorded.isBack = true
    }
  }
}

/** Of an approval: its name and which of that name it is. */
export function approvalId(name: string, number: number): string {
  return `${name}#${number}`
}
