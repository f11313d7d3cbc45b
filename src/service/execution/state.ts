import { AppError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { isLonger, runLimit, shownBytes } from '../../core/limits.ts'
import { isDeeper } from '../../runtime/json-size.ts'
import { deepestJson } from '../events/to-event.ts'

const subject = "The agent stored a value in the session's state"

/** Where a run's state comes from: read from the session, or shared with the parent run, which saves it. */
export type StateSource =
  | { read: (signal: AbortSignal) => Promise<JsonObject>; unsaved?: JsonObject | undefined }
  | { shared: JsonObject }

/** The session's state as one run sees and changes it. */
export class RunState {
  readonly #source: StateSource | undefined
  readonly #maxBytes: number
  #before = '{}'
  #checked: string | undefined
  value: JsonObject = {}

  /** Without a source the run sees no state, and none is saved. */
  constructor(source: StateSource | undefined, maxBytes: number) {
    this.#source = source
    this.#maxBytes = maxBytes
    if (source !== undefined && 'shared' in source) this.value = source.shared
  }

  /** Undefined when there is nothing to load. */
  load(signal: AbortSignal): Promise<void> | undefined {
    const source = this.#source
    if (source === undefined || 'shared' in source) return undefined
    return source.read(signal).then((state) => {
      this.value = source.unsaved ?? state
      this.#before = JSON.stringify(state)
    })
  }

  /**
   * Checks the state that the run leaves, and takes it as what `changed` gives. Throws `run_failed` unless it is JSON, `run_limit`
   * if it has changed and is too large.
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

  /** Undefined when the state is unchanged, invalid or too large. */
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
