import type { HiddenSessions } from '../schema/hidden.ts'
import type { Known } from './batch.ts'

const limit = 5_000

/**
 * Sessions that were seen to exist and the sessions of runs under way, so that a group can be written without a look. A
 * guess that is wrong costs a second attempt, never a wrong row.
 */
export class KnownRows implements Known {
  // Two generations: the older one is let go of as a whole, which costs nothing a session.
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

  /** After a transaction that did not happen. */
  clear(): void {
    this.#sessions.clear()
    this.#earlier.clear()
    this.#runs.clear()
  }
}
