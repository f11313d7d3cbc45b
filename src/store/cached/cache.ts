import { DenseMap } from '../../runtime/dense-map.ts'
import { CacheEntry } from './entry.ts'

export interface MemoryLimits {
  /** Maximum number of sessions without an active run. */
  sessions: number
  /** Estimated size of all sessions together. */
  bytes: number
  /** Runs per session, the newest. */
  runs: number
}

const usualLimits: MemoryLimits = { sessions: 1_000, bytes: 32 * 1024 * 1024, runs: 100 }

/** Entries of all sessions with an active run, and of the most recently used others within the limits. */
export class SessionCache {
  readonly #limits: MemoryLimits
  readonly #sessions = new DenseMap<string, CacheEntry>()
  readonly #idle = new IdleSessions()
  #bytes = 0

  constructor(limits: Partial<MemoryLimits> = {}) {
    this.#limits = { ...usualLimits, ...limits }
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#sessions.size
  }

  find(sessionId: string): CacheEntry | undefined {
    return this.#sessions.get(sessionId)
  }

  findByRun(runId: string): CacheEntry | undefined {
    return this.#sessions.values().find((known) => known.hasRun(runId))
  }

  /** Creates an empty entry if there is none. */
  get(sessionId: string): CacheEntry {
    const found = this.find(sessionId)
    if (found !== undefined) return found
    const known = this.#add(sessionId)
    this.#idle.add(known)
    this.#forgetSurplus(known)
    return known
  }

  runBegins(sessionId: string): CacheEntry {
    const found = this.find(sessionId)
    const known = found ?? this.#add(sessionId)
    if (found?.runsUnderWay === 0) this.#idle.remove(found)
    known.runsUnderWay++
    return known
  }

  runEnds(known: CacheEntry): void {
    if (--known.runsUnderWay > 0) return
    this.#idle.add(known)
    this.#forgetSurplus(known)
  }

  /** Called when the store has answered a session's write number `ticket`; `put` updates the entry. */
  written(known: CacheEntry, ticket: number, put: () => void): void {
    if (ticket !== ++known.answered) known.isUnordered = true
    const before = known.bytes
    put()
    if (known.isUnordered) known.clear()
    this.#changed(known, before)
    if (known.answered === known.asked) known.isUnordered = false
  }

  /** Caches what was read of a session, unless the session has been forgotten. */
  keep(known: CacheEntry, put: () => void): void {
    if (this.find(known.sessionId) !== known) return
    const before = known.bytes
    put()
    this.#changed(known, before)
  }

  /** A session with an active run keeps its entry, emptied. */
  forget(sessionId: string): void {
    const known = this.find(sessionId)
    if (known === undefined) return
    this.#bytes -= known.bytes
    if (known.runsUnderWay === 0) {
      this.#idle.remove(known)
      this.#sessions.delete(sessionId)
      return
    }
    known.clear()
    known.version++
    known.isUnordered = known.answered < known.asked
    this.#bytes += known.bytes
  }

  forgetAll(): void {
    for (const { sessionId } of this.#sessions.values()) this.forget(sessionId)
  }

  #add(sessionId: string): CacheEntry {
    const known = new CacheEntry(sessionId)
    this.#bytes += known.bytes
    this.#sessions.set(sessionId, known)
    return known
  }

  #changed(known: CacheEntry, bytesBefore: number): void {
    known.version++
    known.trim(this.#limits.runs, this.#limits.bytes / 8)
    this.#bytes += known.bytes - bytesBefore
    if (this.#bytes > this.#limits.bytes) this.#forgetSurplus(known)
  }

  #forgetSurplus(spared: CacheEntry): void {
    const { sessions, bytes } = this.#limits
    for (let known = this.#idle.oldest; known !== undefined; ) {
      if (this.#idle.size <= sessions && this.#bytes <= bytes) return
      const newer = known.newer
      if (known !== spared) this.forget(known.sessionId)
      known = newer
    }
    if (this.#bytes <= bytes) return
    for (const known of this.#sessions.values()) {
      if (this.#bytes <= bytes) return
      if (known !== spared) this.forget(known.sessionId)
    }
  }
}

/** Least recently used first. */
class IdleSessions {
  size = 0
  oldest: CacheEntry | undefined
  #newest: CacheEntry | undefined

  add(known: CacheEntry): void {
    known.older = this.#newest
    if (this.#newest === undefined) this.oldest = known
    else this.#newest.newer = known
    this.#newest = known
    this.size++
  }

  /** Clears the links of a removed entry: otherwise it would keep its neighbours alive until it is collected. */
  remove(known: CacheEntry): void {
    const { older, newer } = known
    if (older === undefined) this.oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    known.older = undefined
    known.newer = undefined
    this.size--
  }
}
