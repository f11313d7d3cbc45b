import type { Known } from './group.ts'

const limit = 10_000

/**
 * Sessions that were seen to exist and the sessions of runs under way, so that a group can be written without a look. A
 * guess that is wrong costs a second attempt, never a wrong row.
 */
export class KnownRows implements Known {
  readonly #sessions = new Set<string>()
  readonly #runs = new Map<string, string>()

  hasSession(sessionId: string): boolean {
    return this.#sessions.has(sessionId)
  }

  sessionOf(runId: string): string | undefined {
    return this.#runs.get(runId)
  }

  sawSession(sessionId: string): void {
    this.#sessions.delete(sessionId)
    this.#sessions.add(sessionId)
    if (this.#sessions.size <= limit) return
    for (const oldest of this.#sessions) {
      this.#sessions.delete(oldest)
      return
    }
  }

  forgetSession(sessionId: string): void {
    this.#sessions.delete(sessionId)
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
    this.#runs.clear()
  }
}
