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
      for (const known of sessions.values()) if (known.hasRun(runId)) return known
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

  runBegins(sessionId: string): KnownSession {
    let known = this.#busy.get(sessionId)
    if (known === undefined) {
      known = this.#idle.get(sessionId)
      if (known !== undefined) this.#idle.delete(sessionId)
      else {
        known = new KnownSession(sessionId)
        this.#bytes += known.bytes
      }
      this.#busy.set(sessionId, known)
    }
    known.runsUnderWay++
    return known
  }

  runEnds(known: KnownSession): void {
    if (--known.runsUnderWay > 0) return
    this.#busy.delete(known.sessionId)
    this.#idle.set(known.sessionId, known)
    this.#forgetSurplus(known)
  }

  /** The store has answered a write, the `ticket`-th of a session with a run under way; `put` puts down what is known now. */
  written(known: KnownSession, ticket: number, put: () => void): void {
    if (ticket !== ++known.answered) known.isUnordered = true
    const before = known.bytes
    put()
    if (known.isUnordered) known.clear()
    this.#changed(known, before)
    if (known.answered === known.asked) known.isUnordered = false
  }

  /** Keeps what was read of a session, unless it has been forgotten. */
  keep(known: KnownSession, put: () => void): void {
    if (this.find(known.sessionId) !== known) return
    const before = known.bytes
    put()
    this.#changed(known, before)
  }

  /** A session with a run under way stays, without what was known of it. */
  forget(sessionId: string): void {
    const known = this.find(sessionId)
    if (known === undefined) return
    this.#bytes -= known.bytes
    if (this.#idle.delete(sessionId)) return
    known.clear()
    known.version++
    known.isUnordered = known.answered < known.asked
    this.#bytes += known.bytes
  }

  forgetAll(): void {
    for (const sessionId of this.#idle.keys()) this.forget(sessionId)
    for (const sessionId of this.#busy.keys()) this.forget(sessionId)
  }

  #changed(known: KnownSession, bytesBefore: number): void {
    known.version++
    known.trim(this.#limits.runs, this.#limits.bytes / 8)
    this.#bytes += known.bytes - bytesBefore
    if (this.#bytes > this.#limits.bytes) this.#forgetSurplus(known)
  }

  #forgetSurplus(spared: KnownSession): void {
    const { sessions, bytes } = this.#limits
    if (this.#idle.size <= sessions && this.#bytes <= bytes) return
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
