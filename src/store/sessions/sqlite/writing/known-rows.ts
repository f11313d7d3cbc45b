import type { HiddenSessions } from '../schema/hidden.ts'
import type { RowLookup } from './batch.ts'

const limit = 5_000

/** Existing sessions and those of active runs, without a query. A wrong guess costs a second attempt. */
export class KnownRows implements RowLookup {
  // Two generations: the older one is dropped as a whole, which costs nothing per session.
  #sessions = new Set<string>()
  #earlier = new Set<string>()
  readonly #runs = new Map<string, string>()
  readonly #hidden: HiddenSessions | undefined

  constructor(hidden?: HiddenSessions) {
    this.#hidden = hidden
  }

  isHidden(sessionId: string): boolean {
    return this.#hidden?.has(sessionId) === true
  }

  hasSession(sessionId: string): boolean {
    return this.#sessions.has(sessionId) || this.#earlier.has(sessionId)
  }

  sessionOf(runId: string): string | undefined {
    return this.#runs.get(runId)
  }

  sawSession(sessionId: string): void {
    this.#sessions.add(sessionId)
    if (this.#sessions.size < limit) return
    this.#earlier = this.#sessions
    this.#sessions = new Set()
  }

  forgetSession(sessionId: string): void {
    this.#sessions.delete(sessionId)
    this.#earlier.delete(sessionId)
  }

  sawRun(runId: string, sessionId: string): void {
    this.#runs.set(runId, sessionId)
  }

  forgetRun(runId: string): void {
    this.#runs.delete(runId)
  }

  /** Call it after a transaction that failed. */
  clear(): void {
    this.#sessions.clear()
    this.#earlier.clear()
    this.#runs.clear()
  }
}
