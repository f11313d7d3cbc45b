import { AppError } from '../../../core/error.ts'
import type { Json } from '../../../core/json.ts'
import type { SessionStore } from '../../../core/store.ts'
import { type Clock, timestamp } from '../../../core/time.ts'
import { hashOf } from '../../rules/file-pieces.ts'
import { judgeEvents } from '../../rules/run-rules.ts'
import { cacheAnswer, readAnswer } from './answers.ts'
import { auditStore } from './audit.ts'
import { expireClaims, insertClaim, readClaim, releaseClaims } from './claims.ts'
import { gatherRuns, readRecords, restoreSession } from './copies.ts'
import { eraseUser } from './erasing.ts'
import { factStore } from './facts.ts'
import * as files from './files.ts'
import * as handovers from './handovers.ts'
import { keepTry } from './keep-try.ts'
import { overviewOf, pageOfOverviews } from './overviews.ts'
import { deleteTries, pruneSessions } from './prune.ts'
import { pushStore } from './push.ts'
import { recoverRuns } from './recover.ts'
import { copy, emptyState, type MemoryState, recordOf } from './rows.ts'
import * as runs from './runs.ts'
import { scheduleStore } from './schedules.ts'
import { searchMessages } from './search.ts'
import * as sessions from './sessions.ts'
import { findStateAfter, findStateBefore, restoreTurn } from './turns.ts'
import { webhookStore } from './webhooks.ts'

export interface MemoryStoreOptions {
  /** Used for the expiry of claims; default `Date.now`. */
  clock?: Clock | undefined
  /** Maximum size of one read, unless a single run has more; default 32 MB. */
  maxReadBytes?: number | undefined
}

/** Keeps everything in this process. `open` after `close` gives the same content, which simulates a restart. */
export function memoryStore({ clock = Date.now, maxReadBytes }: MemoryStoreOptions = {}): SessionStore {
  return storeOf(emptyState(clock), maxReadBytes)
}

/** One of the stores that share this content. Each of its writes is one step, taken when the method is called. */
export function storeOf(state: MemoryState, maxReadBytes?: number): SessionStore {
  let closed = false
  const now = () => timestamp(state.clock())

  /** Runs each call as one atomic step. */
  async function step<T>(work: () => T): Promise<T> {
    if (closed) throw new AppError('unavailable', 'The session store is closed.')
    return work()
  }

  return {
    name: 'memory',
    async open() {
      closed = false
    },
    async close() {
      closed = true
    },
    check: () => step(() => {}),

    createSession: (seed, claim) =>
      step(() => {
        const claimed = claim && readClaim(state, claim.key, now())
        if (claimed) return { claimed }
        if (state.sessions.has(seed.session_id)) {
          throw new AppError('conflict', `Session '${seed.session_id}' already exists.`)
        }
        const record = sessions.recordOf(sessions.insertSession(state, seed))
        if (claim) insertClaim(state, claim, { answer: copy(record) as unknown as Json })
        return record
      }),
    findSession: (sessionId) =>
      step(() => {
        const row = state.sessions.get(sessionId)
        return row && sessions.recordOf(row)
      }),
    updateSession: (sessionId, change, at, revision) =>
      step(() => sessions.changeSession(sessions.getSession(state, sessionId), change, at, revision)),
    shareSession: (sessionId, owners, at) =>
      step(() => sessions.shareSession(state, sessions.getSession(state, sessionId), owners, at)),
    unshareSession: (sessionId, kind, ownerId, at) =>
      step(() => sessions.unshareSession(sessions.getSession(state, sessionId), kind, ownerId, at)),
    findHandover: (sessionId, userId, newestRuns) =>
      step(() => handovers.findHandover(state, sessionId, userId, newestRuns)),
    listHandovers: (sessionId) => step(() => handovers.listHandovers(state, sessionId)),
    isBefore: (runId, otherId) => step(() => handovers.isBefore(state, runId, otherId)),
    deleteSession: (sessionId) => step(() => sessions.removeSession(state, sessionId)),
    eraseUser: (userId) => step(() => eraseUser(state, userId)),
    prune: (rule, limit) => step(() => pruneSessions(state, rule, limit)),
    deleteTries: (before, limit) => step(() => deleteTries(state, before, limit)),
    restoreSession: async (copied, head = () => copied, instead) => {
      const gathered = await gatherRuns(copied.runs)
      return step(() => sessions.recordOf(restoreSession(state, head(), gathered, instead)))
    },
    readRecords: (sessionId, after, limit) => step(() => readRecords(state, sessionId, after, limit, maxReadBytes)),
    listSessions: (filter, page) => step(() => sessions.pageOfSessions(state, filter, page)),
    listOverviews: (filter, page) => step(() => pageOfOverviews(state, filter, page)),
    findOverview: (sessionId, userId) =>
      step(() => {
        const row = state.sessions.get(sessionId)
        return row && overviewOf(row, userId)
      }),
    countSessions: (filter) => step(() => sessions.listed(state, filter).length),

    startRun: (start) => step(() => runs.startRun(state, start, now())),
    beginRun: (runId, fence, at) => step(() => runs.beginRun(state, runId, fence, at)),
    appendEvents: (batch) =>
      step(() => {
        const row = state.runs.get(batch.run_id)
        const verdict = judgeEvents(row && runs.lookOf(row), batch.fence)
        if (row === undefined || verdict !== 'ok') return verdict
        runs.keepEvents(row, batch.events)
        row.reserveUntil = Math.max(row.reserveUntil, batch.reserve_until)
        if (batch.checked === true) runs.showMessage(row)
        return 'ok'
      }),
    finishRun: (end) => step(() => runs.finishRun(state, end)),
    resumeRun: (resume) => step(() => runs.resumeRun(state, resume)),
    findRun: (runId) =>
      step(() => {
        const row = state.runs.get(runId)
        return row && recordOf(row)
      }),
    listRuns: (filter, page) => step(() => runs.pageOfRuns(state, filter, page)),
    readEvents: (runId, after, limit) => step(() => runs.readEvents(state.runs.get(runId), after, limit)),
    readHistory: (sessionId, limit, view = {}) =>
      step(() => runs.readHistory(state, sessionId, limit, view, maxReadBytes)),
    findStateBefore: (runId) => step(() => findStateBefore(state, runId)),
    findStateAfter: (runId) => step(() => findStateAfter(state, runId)),
    restoreTurn: (runId, at) => step(() => restoreTurn(state, runId, at)),
    keepTry: (kept) => step(() => keepTry(state, kept)),
    searchMessages: async (search, page) => {
      const found = await step(() => searchMessages(state, search, page))
      // Leaves out what was deleted while the search yielded.
      return step(() => ({ ...found, items: found.items.filter(({ run_id }) => state.runs.has(run_id)) }))
    },

    saveFile: async (file) => {
      const hash = await hashOf(file.bytes)
      return step(() => files.insertFile(state, file, hash))
    },
    findFile: (sessionId, fileId) => step(() => files.findFile(state, sessionId, fileId)),
    readFilePiece: (sessionId, fileId, piece) => step(() => files.readFilePiece(state, sessionId, fileId, piece)),
    findFetched: (sessionId, url) => step(() => files.findFetched(state, sessionId, url)),
    listFiles: (runId) => step(() => files.listFiles(state, runId)),
    dropFiles: (runId) => step(() => files.dropFiles(state, runId)),

    cacheAnswer: (answer) => step(() => cacheAnswer(state, answer, now())),
    findCached: (key) => step(() => readAnswer(state, key, now())),

    ...pushStore(state, step),
    ...factStore(state, step),
    ...scheduleStore(state, step),
    ...webhookStore(state, step),
    ...auditStore(state, step),

    saveSummary: (summary, last) => step(() => sessions.setSummary(state, summary, last)),
    findSummary: (sessionId) => step(() => copy(state.sessions.get(sessionId)?.summary ?? undefined)),
    scheduleSummary: (sessionId, at) =>
      step(() => {
        sessions.getSession(state, sessionId)
        state.summaryJobs.set(sessionId, { at: state.summaryJobs.get(sessionId)?.at ?? at, attempts: 0 })
      }),
    beginSummaryJob: (sessionId) =>
      step(() => {
        const job = state.summaryJobs.get(sessionId)
        return job === undefined ? 0 : ++job.attempts
      }),
    dropSummaryJob: (sessionId) => step(() => void state.summaryJobs.delete(sessionId)),
    listSummaryJobs: () =>
      step(() =>
        [...state.summaryJobs].sort(([, a], [, b]) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(([id]) => id),
      ),

    claim: (claim, answer) =>
      step(() => {
        const taken = readClaim(state, claim.key, now())
        if (taken === undefined) insertClaim(state, claim, answer === undefined ? {} : { answer: copy(answer) })
        return taken
      }),
    completeClaim: (key, answer) =>
      step(() => {
        const row = state.claims.get(key)
        if (row) row.answer = copy(answer)
      }),
    releaseClaim: (key) =>
      step(() => {
        const row = state.claims.get(key)
        if (row && row.run_id === null && row.answer === null) state.claims.delete(key)
      }),
    findClaim: (key) => step(() => readClaim(state, key, now())),

    recover: (owner, at) =>
      step(() => {
        expireClaims(state, now())
        releaseClaims(state, () => true)
        files.deleteFiles(state, ({ run_id }) => !state.runs.has(run_id))
        return recoverRuns(state, owner, at, (other) => other !== owner)
      }),
  }
}
