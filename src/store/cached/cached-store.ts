import { isTry } from '../../core/run.ts'
import type {
  EventsAppended,
  RunBatch,
  RunBegun,
  RunEnd,
  RunFinished,
  RunStart,
  RunStarted,
} from '../../core/run-write.ts'
import type { SessionStore } from '../../core/store.ts'
import { DenseMap } from '../../runtime/dense-map.ts'
import { type MemoryLimits, SessionCache } from './cache.ts'
import { type CacheEntry, freezeStart } from './entry.ts'

/**
 * A write-through cache over the store: it keeps what the next run of a session reads (latest runs, state, summary). A
 * write is cached once the store has acknowledged it. Answers are shared: the caller must not change them, and what is
 * passed to a start is frozen. Nothing else may write to the store.
 */
export function cachedStore(store: SessionStore, limits: Partial<MemoryLimits> = {}): SessionStore {
  const memory = new SessionCache(limits)
  /** Sessions by the id of their active run. */
  const sessions = new DenseMap<string, CacheEntry>()
  /** Active tries: they change nothing that is cached. */
  const tries = new Set<string>()
  /** Counts everything that invalidates reads in progress. */
  let forgotten = 0

  function forget(sessionId: string): void {
    forgotten++
    memory.forget(sessionId)
  }

  function forgetAll(): void {
    forgotten++
    memory.forgetAll()
  }

  /** For writes about a run without an entry here: a paused run, or one of an earlier process. */
  function forgetRun(runId: string): void {
    const known = memory.findByRun(runId)
    if (known === undefined) forgetAll()
    else forget(known.sessionId)
  }

  /** Caches what was read, unless a write came in between. */
  async function reading<T>(sessionId: string, read: Promise<T>, put: (known: CacheEntry, value: T) => void) {
    const known = memory.get(sessionId)
    const before = known.version
    const forgottenBefore = forgotten
    const value = await read
    if (known.version === before && forgotten === forgottenBefore) memory.keep(known, () => put(known, value))
    return value
  }

  /** `put` updates the entry with the answer; undefined when the write failed. */
  function writing<T>(known: CacheEntry, write: Promise<T>, put: (answer?: T) => void): Promise<T> {
    const ticket = ++known.asked
    return write.then(
      (answer) => {
        memory.written(known, ticket, () => put(answer))
        return answer
      },
      (error: unknown) => {
        memory.written(known, ticket, put)
        throw error
      },
    )
  }

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

  function startRun(start: RunStart): Promise<RunStarted> {
    try {
      freezeStart(start)
    } catch (error) {
      return Promise.reject(error)
    }
    const { run_id: runId, session_id: sessionId } = start.run
    if (isTry(start.run)) return startTry(start)
    const known = memory.runBegins(sessionId)
    sessions.set(runId, known)
    // Only the store knows the order of runs that start at the same time.
    if (++known.startsUnderWay > 1) known.isUnordered = true
    return writing(known, store.startRun(start), (started) => {
      known.startsUnderWay--
      if (started?.outcome === 'started' || started?.outcome === 'queued') {
        if (start.replaces !== undefined) known.clear()
        else {
          if (started.created_session) known.begin(start)
          known.startRun(start)
        }
      } else {
        if (started === undefined) known.clear()
        ended(runId, known)
      }
    })
  }

  async function startTry(start: RunStart): Promise<RunStarted> {
    const started = await store.startRun(start)
    if (started.outcome === 'started' || started.outcome === 'queued') tries.add(start.run.run_id)
    return started
  }

  function ended(runId: string, known: CacheEntry): void {
    if (sessions.delete(runId)) memory.runEnds(known)
  }

  function finishRun(end: RunEnd): Promise<RunFinished> {
    if (tries.delete(end.run_id)) return store.finishRun(end)
    const known = sessions.get(end.run_id)
    if (known === undefined) return forgetting(store.finishRun(end), () => forgetRun(end.run_id))
    return writing(known, store.finishRun(end), (finished) => {
      if (finished === 'ok' && end.refused === undefined && end.bringsBack !== true) known.endRun(end)
      else known.clear()
      ended(end.run_id, known)
    })
  }

  function appendEvents(batch: RunBatch): Promise<EventsAppended> {
    const appending = store.appendEvents(batch)
    const known = batch.checked === true ? sessions.get(batch.run_id) : undefined
    if (known === undefined) return appending
    return writing(known, appending, (appended) => {
      if (appended === undefined) known.clear()
      else if (appended === 'ok') known.showMessage(batch.run_id)
    })
  }

  function beginRun(runId: string, fence: number, at: string): Promise<RunBegun> {
    if (tries.has(runId)) return store.beginRun(runId, fence, at)
    const known = sessions.get(runId)
    if (known === undefined) return forgetting(store.beginRun(runId, fence, at), () => forgetRun(runId))
    return writing(known, store.beginRun(runId, fence, at), (begun) => {
      if (begun === 'begun') known.beginRun(runId, at)
      else if (begun !== 'wait') known.clear()
    })
  }

  return {
    name: store.name,
    cluster: store.cluster,
    open: () => store.open(),
    close: () => forgetting(store.close(), forgetAll),
    check: () => store.check(),

    createSession: (seed, claim) => forgetting(store.createSession(seed, claim), () => forget(seed.session_id)),
    findSession: (sessionId) => store.findSession(sessionId),
    updateSession: (sessionId, change, at, revision) =>
      forgetting(store.updateSession(sessionId, change, at, revision), () => forget(sessionId)),
    shareSession: (sessionId, owners, at) =>
      forgetting(store.shareSession(sessionId, owners, at), () => forget(sessionId)),
    unshareSession: (sessionId, kind, ownerId, at) => store.unshareSession(sessionId, kind, ownerId, at),
    findHandover: (sessionId, userId, newestRuns) => store.findHandover(sessionId, userId, newestRuns),
    listHandovers: (sessionId) => store.listHandovers(sessionId),
    isBefore: (runId, otherId) => store.isBefore(runId, otherId),
    deleteSession: (sessionId) => forgetting(store.deleteSession(sessionId), () => forget(sessionId)),
    restoreSession: (copy, ...more) =>
      forgetting(store.restoreSession(copy, ...more), () => forget(copy.session.session_id)),
    readRecords: (sessionId, after, limit) => store.readRecords(sessionId, after, limit),
    saveFile: (file) => store.saveFile(file),
    findFile: (sessionId, fileId) => store.findFile(sessionId, fileId),
    readFilePiece: (sessionId, fileId, piece) => store.readFilePiece(sessionId, fileId, piece),
    findFetched: (sessionId, url) => store.findFetched(sessionId, url),
    listFiles: (runId) => store.listFiles(runId),
    dropFiles: (runId) => store.dropFiles(runId),
    listSessions: (filter, page) => store.listSessions(filter, page),
    listOverviews: (filter, page) => store.listOverviews(filter, page),
    findOverview: (sessionId, userId) => store.findOverview(sessionId, userId),
    countSessions: (filter) => store.countSessions(filter),
    deleteTries: (before, limit) => store.deleteTries(before, limit),
    prune: (rule, limit) => forgetting(store.prune(rule, limit), (count) => count !== 0 && forgetAll()),
    eraseUser: (userId, limit) => forgetting(store.eraseUser(userId, limit), (count) => count !== 0 && forgetAll()),
    async readBasis(sessionId) {
      const known = memory.find(sessionId)
      if (known?.basis !== undefined) return known.basis
      const read = store.readBasis?.(sessionId) ?? store.findSession(sessionId).then((found) => found?.session)
      return reading(sessionId, read, (session, basis) => session.setBasis(basis))
    },

    startRun,
    beginRun,
    appendEvents,
    finishRun,
    findStateBefore: (runId) => store.findStateBefore(runId),
    async findStateAfter(runId) {
      if (store.findStateAfter !== undefined) return store.findStateAfter(runId)
      const run = await store.findRun(runId)
      const found = run?.parent_run_id === null ? await store.findSession(run.session_id) : undefined
      return found?.session.state
    },
    restoreTurn: (runId, at) => forgetting(store.restoreTurn(runId, at), () => forgetRun(runId)),
    keepTry: (kept) => forgetting(store.keepTry(kept), () => forgetRun(kept.turn)),
    resumeRun: (resume) => forgetting(store.resumeRun(resume), () => forgetRun(resume.run_id)),
    findRun: (runId) => store.findRun(runId),
    findRunHead: (runId) => store.findRunHead?.(runId) ?? store.findRun(runId),
    listRuns: (filter, page) => store.listRuns(filter, page),
    readEvents: (runId, after, limit, types) => store.readEvents(runId, after, limit, types),
    async readHistory(sessionId, limit, view) {
      if (view !== undefined) return store.readHistory(sessionId, limit, view)
      const known = memory.find(sessionId)
      known?.wantRuns(limit)
      return (
        known?.history(limit) ??
        reading(sessionId, store.readHistory(sessionId, limit), (session, history) => {
          session.wantRuns(limit)
          session.setHistory(history, limit)
        })
      )
    },
    searchMessages: (search, page) => store.searchMessages(search, page),

    cacheAnswer: (answer) => store.cacheAnswer(answer),
    findCached: (key) => store.findCached(key),

    savePushConfig: (config, owner, max) => store.savePushConfig(config, owner, max),
    listPushConfigs: (runId) => store.listPushConfigs(runId),
    deletePushConfig: (runId, configId) => store.deletePushConfig(runId, configId),
    takePushConfigs: (runId, owner) => store.takePushConfigs(runId, owner),
    adoptPushConfigs: (owner, limit) => store.adoptPushConfigs(owner, limit),
    settlePushConfig: (duty, outcome) => store.settlePushConfig(duty, outcome),
    listFacts: (userId) => store.listFacts(userId),
    saveFact: (userId, fact, max) => store.saveFact(userId, fact, max),
    deleteFact: (userId, factId) => store.deleteFact(userId, factId),
    deleteFacts: (userId) => store.deleteFacts(userId),

    openSchedule: (name, rule, at) => store.openSchedule(name, rule, at),
    listSchedules: () => store.listSchedules(),
    settleSchedule: (name, outcome) => store.settleSchedule(name, outcome),
    pauseSchedule: (name, paused, at) => store.pauseSchedule(name, paused, at),

    addWebhookJobs: (runId, webhooks, at) => store.addWebhookJobs(runId, webhooks, at),
    dropWebhookJobs: (runId) => store.dropWebhookJobs(runId),
    wakeWebhookJobs: (at, startedBefore, runId) => store.wakeWebhookJobs(at, startedBefore, runId),
    takeWebhookJobs: (webhooks, at, until, limit) => store.takeWebhookJobs(webhooks, at, until, limit),
    settleWebhookJob: (job, outcome) => store.settleWebhookJob(job, outcome),

    addAuditEntry: (entry) => store.addAuditEntry(entry),
    settleAuditEntry: (entry, outcome, detail) => store.settleAuditEntry(entry, outcome, detail),
    listAuditEntries: (filter, page) => store.listAuditEntries(filter, page),
    hideAuditedUser: (user, pseudonym, limit) => store.hideAuditedUser(user, pseudonym, limit),
    deleteAuditEntries: (before, limit) => store.deleteAuditEntries(before, limit),

    saveSummary: (summary, last) => forgetting(store.saveSummary(summary, last), () => forget(summary.session_id)),
    async findSummary(sessionId) {
      const known = memory.find(sessionId)?.summary
      if (known !== undefined) return known ?? undefined
      return reading(sessionId, store.findSummary(sessionId), (session, summary) => session.setSummary(summary ?? null))
    },
    scheduleSummary: (sessionId, at) => store.scheduleSummary(sessionId, at),
    beginSummaryJob: (sessionId) => store.beginSummaryJob(sessionId),
    dropSummaryJob: (sessionId) => store.dropSummaryJob(sessionId),
    listSummaryJobs: () => store.listSummaryJobs(),

    claim: (claim, answer) => store.claim(claim, answer),
    completeClaim: (key, answer) => store.completeClaim(key, answer),
    releaseClaim: (key) => store.releaseClaim(key),
    findClaim: (key) => store.findClaim(key),

    recover: (owner, at) => forgetting(store.recover(owner, at), forgetAll),
  }
}
