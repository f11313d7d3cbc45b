import { freeze } from '../core/json.ts'
import { isEnded, type RunRecord } from '../core/run.ts'
import type { RunEnd, RunStart, RunStarted, SessionStore } from '../core/store.ts'
import type { KnownSession } from './known-session.ts'
import { type MemoryLimits, SessionMemory } from './session-memory.ts'

const defaultLimits: MemoryLimits = { sessions: 1_000, bytes: 32 * 1024 * 1024, runs: 100 }

/**
 * The store, with what the next run of a session asks for (its latest runs, its state and summary) kept in memory: of
 * sessions with a run under way and of the newest others. Writes are known when the store has acknowledged them, so that
 * nothing is told that could be lost. Answers are the store's, but shared: nobody may change what they hold, and what is put
 * in with a start is frozen. The store must have no other user.
 */
export function activeSessions(store: SessionStore, limits: Partial<MemoryLimits> = {}): SessionStore {
  const memory = new SessionMemory({ ...defaultLimits, ...limits })
  /** By the run under way. */
  const sessions = new Map<string, KnownSession>()
  /** Grows with whatever makes reads under way worthless. */
  let forgotten = 0

  function forget(sessionId: string): void {
    forgotten++
    memory.forget(sessionId)
  }

  function forgetAll(): void {
    forgotten++
    memory.forgetAll()
  }

  /** For writes about a run that is not under way here: an earlier process started it, or it was paused. */
  function forgetRun(runId: string): void {
    const known = memory.findByRun(runId)
    if (known === undefined) forgetAll()
    else forget(known.sessionId)
  }

  /** What was read is kept, unless something was written meanwhile. */
  async function reading<T>(sessionId: string, read: Promise<T>, keep: (known: KnownSession, value: T) => void) {
    const known = memory.get(sessionId)
    const before = known.version
    const forgottenBefore = forgotten
    const value = await read
    if (known.version === before && forgotten === forgottenBefore) memory.change(known, () => keep(known, value))
    return value
  }

  /** `put` puts down what is known by the answer; undefined when the write failed. */
  async function writing<T>(known: KnownSession, write: Promise<T>, put: (answer?: T) => void): Promise<T> {
    const ticket = ++known.asked
    let answer: T | undefined
    try {
      answer = await write
      return answer
    } finally {
      memory.written(known, ticket, () => put(answer))
    }
  }

  /** Whatever came of it. */
  async function forgetting<T>(write: Promise<T>, forgetIt: (value?: T) => void): Promise<T> {
    try {
      const value = await write
      forgetIt(value)
      return value
    } catch (error) {
      forgetIt()
      throw error
    }
  }

  async function startRun(start: RunStart): Promise<RunStarted> {
    const { run_id: runId, session_id: sessionId, parent_run_id: parent } = start.run
    freeze(start.message)
    freeze(start.run.metadata)
    const known = memory.get(sessionId)
    memory.runBegins(known)
    sessions.set(runId, known)
    // Of runs that are put in at once, the store alone knows the order.
    if (++known.startsUnderWay > 1) known.isUnordered = true
    let isIn = false
    try {
      const started = await writing(known, store.startRun(start), (answer) => {
        if (answer === undefined) return known.clear()
        if (answer.outcome !== 'started' && answer.outcome !== 'queued') return
        if (answer.created_session) known.begin(JSON.stringify(start.session?.state ?? null))
        if (start.state !== null) known.setState(undefined)
        if (parent === null) known.addRun(start.run)
      })
      isIn = started.outcome === 'started' || started.outcome === 'queued'
      return started
    } finally {
      known.startsUnderWay--
      if (!isIn) ended(runId, known)
    }
  }

  function ended(runId: string, known: KnownSession): void {
    if (sessions.delete(runId)) memory.runEnds(known)
  }

  async function finishRun(end: RunEnd) {
    const known = sessions.get(end.run_id)
    if (known === undefined) return forgetting(store.finishRun(end), () => forgetRun(end.run_id))
    try {
      return await writing(known, store.finishRun(end), (answer) => {
        if (answer !== 'ok') return known.clear()
        known.replaceRun(end.run_id, (run) => toEnded(run, end))
        if (end.state !== undefined) known.setState(JSON.stringify(end.state))
      })
    } finally {
      ended(end.run_id, known)
    }
  }

  async function beginRun(runId: string, fence: number, at: string): Promise<boolean> {
    const known = sessions.get(runId)
    if (known === undefined) return forgetting(store.beginRun(runId, fence, at), () => forgetRun(runId))
    return writing(known, store.beginRun(runId, fence, at), (begun) => {
      if (!begun) return known.clear()
      known.setState(undefined)
      known.replaceRun(runId, (run) => ({ ...run, status: 'running', started_at: at }))
    })
  }

  return {
    name: store.name,
    open: () => store.open(),
    close: () => forgetting(store.close(), forgetAll),
    check: () => store.check(),

    createSession: (seed, claim) => forgetting(store.createSession(seed, claim), () => forget(seed.session_id)),
    findSession: (sessionId) => store.findSession(sessionId),
    updateSession: (sessionId, change, at, revision) =>
      forgetting(store.updateSession(sessionId, change, at, revision), () => forget(sessionId)),
    shareSession: (sessionId, owners, at) => store.shareSession(sessionId, owners, at),
    deleteSession: (sessionId) => forgetting(store.deleteSession(sessionId), () => forget(sessionId)),
    listSessions: (filter, page) => store.listSessions(filter, page),
    prune: (rule, limit) => forgetting(store.prune(rule, limit), (count) => count !== 0 && forgetAll()),
    async readState(sessionId) {
      const known = memory.find(sessionId)?.state
      if (known !== undefined) return JSON.parse(known)
      const read = store.readState?.(sessionId) ?? store.findSession(sessionId).then((found) => found?.session.state)
      return reading(
        sessionId,
        read.then((state) => state ?? null),
        (session, state) => session.setState(JSON.stringify(state)),
      )
    },

    startRun,
    beginRun,
    appendEvents: (batch) => store.appendEvents(batch),
    finishRun,
    resumeRun: (resume) => forgetting(store.resumeRun(resume), () => forgetRun(resume.run_id)),
    findRun: (runId) => store.findRun(runId),
    listRuns: (filter, page) => store.listRuns(filter, page),
    readEvents: (runId, after, limit) => store.readEvents(runId, after, limit),
    async readHistory(sessionId, limit) {
      const known = memory.find(sessionId)
      const runs = known?.runs
      if (known === undefined || runs === undefined || limit < 1 || (runs.length < limit && !known.isWhole)) {
        return reading(sessionId, store.readHistory(sessionId, limit), (session, history) => {
          if (limit > 0) session.setRuns(history.runs, !history.has_more)
        })
      }
      return { runs: runs.slice(-limit), has_more: runs.length > limit || !known.isWhole }
    },

    cacheAnswer: (answer) => store.cacheAnswer(answer),
    findCached: (key) => store.findCached(key),

    saveSummary: (summary) => forgetting(store.saveSummary(summary), () => forget(summary.session_id)),
    async findSummary(sessionId) {
      const known = memory.find(sessionId)?.summary
      if (known !== undefined) return known ?? undefined
      return reading(sessionId, store.findSummary(sessionId), (session, summary) => session.setSummary(summary ?? null))
    },
    scheduleSummary: (sessionId, at) => store.scheduleSummary(sessionId, at),
    dropSummaryJob: (sessionId) => store.dropSummaryJob(sessionId),
    listSummaryJobs: () => store.listSummaryJobs(),

    claim: (claim) => store.claim(claim),
    settleClaim: (key, answer) => store.settleClaim(key, answer),
    releaseClaim: (key) => store.releaseClaim(key),
    findClaim: (key) => store.findClaim(key),

    recover: (owner, at) => forgetting(store.recover(owner, at), forgetAll),
  }
}

/** Undefined for one that was read between the write of its end and the answer. */
function toEnded(run: RunRecord, end: RunEnd): RunRecord | undefined {
  if (isEnded(run.status)) return undefined
  const { status, completed_at, end_seq, cancellation_reason, error, cache_hit, usage } = end
  const messages = [...run.messages, ...end.messages]
  const ended = { status, completed_at, end_seq, cancellation_reason, error, cache_hit, usage, messages }
  return { ...run, ...ended, sources: [...end.sources] }
}
