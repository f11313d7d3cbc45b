import { AppError } from '../core/error.ts'
import type { RunEvent, StepEnd } from '../core/event.ts'
import type { Json } from '../core/json.ts'

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
  /** How many ends the record holds before this one began. */
  endsBefore: number
  end?: End
  deliver?: (end: End) => void
  delivered?: boolean
  /** Nothing waits for it any longer, though it may still come. */
  passed?: boolean
}

const patienceMs = 1000

export interface JournalWatch {
  /** The code has not come to a recorded step for a while, and others wait for it. */
  onStall?: (name: string) => void
  /** The code does not do what is recorded; it may catch the error that it gets, but must not go on. */
  onChanged?: (error: AppError) => void
}

/**
 * The steps and approvals that a run has recorded, by name and occurrence. Results are given again in the order in which
 * they were recorded, so that code that did the same things before does them again in the same order; code that does not
 * is told at once.
 */
export class Journal {
  readonly #recorded = new Map<string, Recorded>()
  readonly #ends: Recorded[] = []
  readonly #occurrences = new Map<string, number>()
  readonly #watch: JournalWatch
  #patience: NodeJS.Timeout | undefined

  constructor(events: readonly RunEvent[], watch: JournalWatch = {}) {
    this.#watch = watch
    this.#read(events)
  }

  /** Names an occurrence, in the step `parent` if one is given; every call is the next one. */
  occurrence(kind: 'step' | 'approval', name: string, parent?: string): { key: string; number: number } {
    const scope = `${parent ?? ''}/${kind}/${name}`
    const number = (this.#occurrences.get(scope) ?? 0) + 1
    this.#occurrences.set(scope, number)
    return { key: `${scope}#${number}`, number }
  }

  /**
   * What is recorded of it; `end` is there when it had ended, and resolves in its turn. Throws `run_interrupted` when the
   * recorded run did something else first.
   */
  enter(key: string, name: string): { id: string; end?: Promise<End> } | undefined {
    const recorded = this.#recorded.get(key)
    const before = this.#ends.slice(0, recorded?.endsBefore ?? this.#ends.length)
    const missing = before.find((other) => !other.delivered && !other.passed)
    if (missing !== undefined) {
      const error = changed(`it came to '${name}' where it had done '${missing.name}' before`)
      this.#watch.onChanged?.(error)
      throw error
    }
    if (recorded?.end === undefined) return recorded && { id: recorded.id }
    const end = new Promise<End>((deliver) => {
      recorded.deliver = deliver
    })
    this.#deliver()
    return { id: recorded.id, end }
  }

  /** Throws `run_interrupted` when the code has ended without what it had done before. */
  assertComplete(): void {
    const missing = this.#ends.find(({ delivered }) => !delivered)
    if (missing !== undefined) throw changed(`it ended without '${missing.name}', which it had done before`)
  }

  close(): void {
    clearTimeout(this.#patience)
  }

  #deliver(): void {
    clearTimeout(this.#patience)
    for (const recorded of this.#ends) {
      if (recorded.delivered || (recorded.passed && recorded.deliver === undefined)) continue
      if (recorded.deliver === undefined || recorded.end === undefined) {
        this.#waitFor(recorded)
        return
      }
      recorded.delivered = true
      recorded.deliver(recorded.end)
    }
  }

  // Code beside the steps may take its time before it comes to the next one.
  #waitFor(recorded: Recorded): void {
    if (!this.#ends.some(({ deliver, delivered }) => deliver !== undefined && !delivered)) return
    this.#patience = setTimeout(() => {
      this.#watch.onStall?.(recorded.name)
      recorded.passed = true
      this.#deliver()
    }, patienceMs)
  }

  #read(events: readonly RunEvent[]): void {
    const byId = new Map<string, Recorded>()
    const begin = (kind: 'step' | 'approval', name: string, id: string, parent?: string) => {
      if (byId.has(id)) return
      const recorded: Recorded = { name, id, parent, endsBefore: this.#ends.length }
      byId.set(id, recorded)
      this.#recorded.set(this.occurrence(kind, name, parent).key, recorded)
    }
    const end = (recorded: Recorded | undefined, how: End) => {
      if (recorded === undefined || recorded.end !== undefined) return
      recorded.end = how
      this.#ends.push(recorded)
    }
    const open: string[] = []
    for (const event of events) {
      if (event.type === 'step_start') begin('step', event.name, event.step_id, event.parent_id)
      else if (event.type === 'step_end' && event.status !== 'cancelled') end(byId.get(event.step_id), event)
      else if (event.type === 'input_required' && event.call_id !== undefined) {
        begin('approval', nameOf(event.call_id), event.call_id)
        open.push(event.call_id)
      } else if (event.type === 'run_resumed') {
        for (const id of open.splice(0)) {
          const approved = typeof event.approved === 'object' ? event.approved[id] : event.approved
          if (approved !== undefined) end(byId.get(id), { approved, input: event.input })
        }
      }
    }
    this.#occurrences.clear()
    // What a finished step did inside it is not done again.
    for (const recorded of this.#ends) if (byId.get(recorded.parent ?? '')?.end !== undefined) recorded.delivered = true
  }
}

/** Of an approval: its name and which of that name it is. */
export function approvalId(name: string, number: number): string {
  return `${name}#${number}`
}

function nameOf(approval: string): string {
  return approval.slice(0, approval.lastIndexOf('#'))
}

function changed(how: string): AppError {
  return new AppError(
    'run_interrupted',
    `The workflow does other things than it did when this run began: ${how}. Put it back as it was to resume the run, or cancel it.`,
  )
}
