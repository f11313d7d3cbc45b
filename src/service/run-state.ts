import { AppError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'

/** The session's state as one run sees and changes it. */
export class RunState {
  readonly #read: (() => Promise<JsonObject>) | undefined
  #before = '{}'
  value: JsonObject = {}

  /** `read` undefined: the run has no state to see, and none of it is kept. */
  constructor(read: (() => Promise<JsonObject>) | undefined) {
    this.#read = read
  }

  /** Undefined when there is nothing to wait for. */
  load(): Promise<void> | undefined {
    return this.#read?.().then((state) => {
      this.value = state
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
    if (this.#read === undefined) return undefined
    try {
      const text = JSON.stringify(this.value)
      return text === this.#before ? undefined : (JSON.parse(text) as JsonObject)
    } catch {
      return undefined
    }
  }
}
