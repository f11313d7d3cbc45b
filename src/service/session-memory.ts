import { KnownSession } from './known-session.ts'

export interface MemoryLimits {
  /** Sessions without a run under way. */
  sessions: number
  /** Of all sessions together, as estimated. */
  bytes: number
  /** The newest ones of a session. */
  runs: number
}

/**
 * What sessions with a run under way, and the newest of the others, are known to hold. Beyond its limits it forgets, the
 * longest unused first.
 */
export class SessionMemory {
  readonly #limits: MemoryLimits
  readonly #busy = new Map<string, KnownSession>()
  readonly #idle = new Map<string, KnownSession>()
  #bytes = 0

  constructor(limits: MemoryLimits) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#busy.size + this.#idle.size
  }

  find(sessionId: string): KnownSession | undefined {
    return this.#busy.get(sessionId) ?? this.#idle.get(sessionId)
  }

  findByRun(runId: string): KnownSession | undefined {
    for (const sessions of [this.#busy, this.#idle]) {
      for (const known of sessions.values()) if (known.runs?.some(({ run_id }) => run_id === runId)) return known
    }
    return undefined
  }

  /** One of which nothing is known yet, if there is none. */
  get(sessionId: string): KnownSession {
    const found = this.find(sessionId)
    if (found !== undefined) return found
    const known = new KnownSession(sessionId)
    this.#bytes += known.bytes
    this.#idle.set(sessionId, known)
    this.#forgetSurplus(known)
    return known
  }

  /** It has not been forgotten. */
  holds(known: KnownSession): boolean {
    return this.find(known.sessionId) === known
  }

  runBegins(known: KnownSession): void {
    known.runsUnderWay++
    if (this.#idle.delete(known.sessionId)) this.#busy.set(known.sessionId, known)
  }

  runEnds(known: KnownSession): void {
    if (--known.runsUnderWay > 0) return
    this.#busy.delete(known.sessionId)
    this.#idle.set(known.sessionId, known)
    this.#forgetSurplus(known)
  }

  /** The store has answered a write: `work` puts down what is known now. `ticket`: which write of the session it was. */
  written(known: KnownSession, ticket: number, work: () => void): void {
    if (ticket !== ++known.answered) known.isUnordered = true
    this.change(known, known.isUnordered ? () => known.clear() : work)
    if (known.answered === known.asked) known.isUnordered = false
  }

  /** Every change of what is known goes through here, so that the limits hold. */
  change(known: KnownSession, work: () => void): void {
    if (!this.holds(known)) return
    const before = known.bytes
    known.version++
    work()
    known.trim(this.#limits.runs, this.#limits.bytes / 8)
    this.#bytes += known.bytes - before
    if (this.#bytes > this.#limits.bytes) this.#forgetSurplus(known)
  }

  /** A session with a run under way stays, without what was known of it. */
  forget(sessionId: string): void {
    const known = this.find(sessionId)
    if (known === undefined) return
    this.#bytes -= known.bytes
    if (this.#idle.delete(sessionId)) return
    known.clear()
    known.isUnordered = known.answered < known.asked
    this.#bytes += known.bytes
  }

  forgetAll(): void {
    for (const sessionId of this.#idle.keys()) this.forget(sessionId)
    for (const sessionId of this.#busy.keys()) this.forget(sessionId)
  }

  #forgetSurplus(spared: KnownSession): void {
    const { sessions, bytes } = this.#limits
    for (const [sessionId, known] of this.#idle) {
      if (this.#idle.size <= sessions && this.#bytes <= bytes) return
      if (known !== spared) this.forget(sessionId)
    }
    for (const [sessionId, known] of this.#busy) {
      if (this.#bytes <= bytes) return
      if (known !== spared) this.forget(sessionId)
    }
  }
}
