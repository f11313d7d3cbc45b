import { AppError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'

/** Where a run's state comes from: read from the session, or the very object of the run that it is part of, which keeps it. */
export type StateSource = { read: () => Promise<JsonObject>; unsaved?: JsonObject | undefined } | { shared: JsonObject }

/** The session's state as one run sees and changes it. */
export class RunState {
  readonly #source: StateSource | undefined
  #before = '{}'
  value: JsonObject = {}

  /** Undefined: the run has no state to see, and none of it is kept. */
  constructor(source: StateSource | undefined) {
    this.#source = source
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

  assertJson(): void {
    try {
      JSON.stringify(this.value)
    } catch (cause) {
      throw new AppError('run_failed', "The agent left something in the session's state that is not JSON.", { cause })
    }
  }

  /** Undefined when there is nothing to keep. */
  changed(): JsonObject | undefined {
    if (this.#source === undefined || 'shared' in this.#source) return undefined
    try {
      const text = JSON.stringify(this.value)
      return text === this.#before ? undefined : (JSON.parse(text) as JsonObject)
    } catch {
      return undefined
    }
  }
}
