import { AppError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { isLonger, runLimit, shownBytes } from '../../core/limits.ts'
import { isDeeper } from '../../runtime/json-size.ts'
import { deepestJson } from '../events/to-event.ts'

const subject = "The agent stored a value in the session's state"

/** Where a run's state comes from: read from the session, or the very object of the run that it is part of, which keeps it. */
export type StateSource = { read: () => Promise<JsonObject>; unsaved?: JsonObject | undefined } | { shared: JsonObject }

/** The session's state as one run sees and changes it. */
export class RunState {
  readonly #source: StateSource | undefined
  readonly #maxBytes: number
  #before = '{}'
  #checked: string | undefined
  value: JsonObject = {}

  /** Undefined: the run has no state to see, and none of it is kept. */
  constructor(source: StateSource | undefined, maxBytes: number) {
    this.#source = source
    this.#maxBytes = maxBytes
    if (source !== undefined && 'shared' in source) this.value = source.shared
  }

  /** Undefined when there is nothing to wait for. */
  load(): Promise<void> | undefined {
    const source = this.#source
    if (source === undefined || 'shared' in source) return undefined
    return source.read().then((state) => {
      this.value = source.unsaved ?? state
      this.#before = JSON.stringify(state)
    })
  }

  /**
   * Looks at what the run left, which is what is kept then. Throws `run_failed` for what is no JSON, `run_limit` for what is
   * too large and has changed.
   */
  check(): void {
    const text = this.#toText()
    if (text.length > 2 * deepestJson && isDeeper(this.value, deepestJson)) {
      throw new AppError('run_failed', `${subject} that is nested deeper than ${deepestJson} levels.`)
    }
    if (this.#isOwn() && text !== this.#before && isLonger(text, this.#maxBytes)) {
      throw runLimit('state', shownBytes(this.#maxBytes), "It stored more in the session's state")
    }
    this.#checked = text
  }

  /** Undefined when there is nothing to keep, or nothing that may be kept. */
  changed(): JsonObject | undefined {
    if (!this.#isOwn()) return undefined
    try {
      if (this.#checked === undefined) this.check()
    } catch {
      return undefined
    }
    const text = this.#checked
    return text === undefined || text === this.#before ? undefined : (JSON.parse(text) as JsonObject)
  }

  #isOwn(): boolean {
    return this.#source !== undefined && !('shared' in this.#source)
  }

  #toText(): string {
    let text: string | undefined
    try {
      text = JSON.stringify(this.value)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : ''
      throw new AppError('run_failed', `${subject} that is not JSON: ${why}.`, { cause })
    }
    if (text?.startsWith('{') === true) return text
    throw new AppError('run_failed', `${subject} that JSON cannot represent exactly.`)
  }
}
