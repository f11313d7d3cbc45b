import { AppError } from '../../../core/error.ts'
import { type Logger, silentLogger } from '../../../core/logger.ts'
import type { ClaimRecord, RunFinished, RunStart, RunStarted } from '../../../core/run-write.ts'
import type { SessionStore } from '../../../core/store.ts'
import { type Clock, timestamp } from '../../../core/time.ts'
import { Expiry } from '../../rules/expiry.ts'
import type { RunWrite } from '../../rules/run-writes.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { toStoreError } from '../../sqlite/failure.ts'
import type { Synchronous } from '../../sqlite/open-database.ts'
import { probeSpace, writeAgain } from '../../sqlite/space.ts'
import { cacheAnswer } from './answers.ts'
import { auditStore } from './audit.ts'
import { eraseUser } from './erase-user.ts'
import { deleteExpired } from './expiry.ts'
import { factStore } from './facts.ts'
import { dropFiles } from './files/delete.ts'
import { saveFile } from './files/save.ts'
import { removedAtOnce } from './hidden/remove.ts'
import { type GoneSessions, removeSessions } from './hidden/remove-sessions.ts'
import { type Opened, openStore } from './opened.ts'
import { pruneSessions } from './prune.ts'
import { pushStore } from './push.ts'
import type { Reads } from './reads.ts'
import { recover } from './recover.ts'
import { restoreInSteps } from './restore-copy.ts'
import { scheduleStore } from './schedules.ts'
import * as sessions from './sessions.ts'
import * as summaries from './summaries.ts'
import { removeTries } from './tries.ts'
import { webhookStore } from './webhooks.ts'
import { completeClaim, releaseClaim, takeClaim } from './writing/claims.ts'
import { keepTry } from './writing/keep-try.ts'
import { finishRefused } from './writing/refuse.ts'
import { resumeRun } from './writing/single-write.ts'
import { restoreTurn } from './writing/turns.ts'

const expiredPerStep = 1_000

export interface SqliteStoreOptions {
  path: string
  /** `FULL` (default): acknowledged writes survive a power cut. `NORMAL`: only a crash of the process. */
  synchronous?: Synchronous | undefined
  logger?: Logger | undefined
  /** Called once when the file can't be trusted any more. No write succeeds from then on: end the process. */
  onFatal?: ((error: AppError) => void) | undefined
  /** Used for the expiry of claims; default `Date.now`. */
  clock?: Clock | undefined
  /** Maximum size of one read, unless a single run or session has more; default 32 MB. */
  maxReadBytes?: number | undefined
}

/** Sessions and runs in one SQLite file, for one process at a time. */
export function sqliteStore(options: SqliteStoreOptions): SessionStore {
  const { path, synchronous = 'FULL', logger = silentLogger, clock = Date.now } = options
  const now = () => timestamp(clock())
  const expiry = new Expiry(clock)
  let opened: Opened | undefined

  async function open(): Promise<void> {
    if (opened !== undefined) return
    const { maxReadBytes, onFatal = () => {} } = options
    try {
      opened = await openStore({ path, synchronous, logger, now, onFatal, maxReadBytes })
    } catch (error) {
      throw toStoreError(error, path)
    }
  }

  async function close(): Promise<void> {
    const closing = opened
    opened = undefined
    await closing?.close()
  }

  async function using<T>(work: (store: Opened) => Promise<T>): Promise<T> {
    if (opened === undefined) throw notOpen()
    try {
      return await work(opened)
    } catch (error) {
      throw toStoreError(error, path)
    }
  }
  const reading = <T>(read: (reads: Reads) => Promise<T>) => using(({ reads }) => read(reads))
  const readingOn = <T>(read: (connection: Connection) => Promise<T>) => using(({ reads }) => reads.on(read))
  const working = <T>(work: (connection: Connection) => Promise<T>) => using(({ writer }) => writer.work(work))

  /** No extra tick between the caller and the writer, whose errors are store errors already. */
  const writing = <T>(write: RunWrite) =>
    (opened === undefined ? Promise.reject(notOpen()) : opened.writer.write(write)) as Promise<T>

  /** Waits for the removal of a deleted session of the same id. */
  function removed({ session }: RunStart): Promise<void> | undefined {
    if (opened === undefined || opened.hidden.size === 0) return undefined
    if (!session || !opened.hidden.has(session.session_id)) return undefined
    return opened.removal.finished(session.session_id)
  }

  function deleteExpiredWhenDue(): void {
    if (!expiry.isDue()) return
    void deleteAllExpired().catch((error: unknown) => logger.warn({ error }, 'expired entries could not be deleted'))
  }

  async function deleteAllExpired(): Promise<void> {
    while (await working((connection) => deleteExpired(connection, now(), expiredPerStep)));
  }

  async function removing(store: Opened, remove: (connection: Connection) => Promise<GoneSessions>): Promise<number> {
    const { writer, known, hidden, removal, search } = store
    const { count, runs } = await removeSessions(
      { hidden, known, removal, work: (work, characters) => writer.work(work, characters) },
      remove,
    )
    search.forget(runs)
    if (count > 0) store.reclaim()
    return count
  }

  return {
    name: 'sqlite',
    open,
    close,
    check: () =>
      using(async ({ writer }) => {
        if (writer.failure !== undefined) throw writer.failure
        if (!writer.isFull) return writer.work(async () => {})
        await probeSpace(path)
        await writer.work(writeAgain)
        writer.wrote()
      }),

    createSession: (seed, claim) =>
      using(async ({ writer, known, removal }) => {
        await removal.finished(seed.session_id)
        const made = await writer.work((connection) => sessions.createSession(connection, seed, claim, now()))
        if ('session' in made) known.sawSession(seed.session_id)
        if (claim) deleteExpiredWhenDue()
        return made
      }),
    findSession: (sessionId) =>
      using(async ({ reads, known }) => {
        const found = await reads.findSession(sessionId)
        if (found !== undefined) known.sawSession(sessionId)
        return found
      }),
    updateSession: (sessionId, change, at, revision) =>
      working((connection) => sessions.updateSession(connection, sessionId, change, at, revision)),
    shareSession: (sessionId, owners, at) =>
      working((connection) => sessions.shareSession(connection, sessionId, owners, at)),
    unshareSession: (sessionId, kind, ownerId, at) =>
      working((connection) => sessions.unshareSession(connection, sessionId, kind, ownerId, at)),
    findHandover: (sessionId, userId, newestRuns) =>
      reading((reads) => reads.findHandover(sessionId, userId, newestRuns)),
    listHandovers: (sessionId) => reading((reads) => reads.listHandovers(sessionId)),
    isBefore: (runId, otherId) => reading((reads) => reads.isBefore(runId, otherId)),
    deleteSession: (sessionId) =>
      using(async (store) => {
        const remove = (connection: Connection) => sessions.deleteSessions(connection, [sessionId])
        return (await removing(store, remove)) > 0
      }),
    eraseUser: (userId, limit) =>
      using(async (store) => {
        const { count, runs } = await store.writer.work((connection) => eraseUser(connection, userId, limit))
        store.search.forgetWordsOf(runs)
        if (count > 0) store.reclaim()
        return count
      }),
    prune: (rule, limit) =>
      using(async (store) => {
        if (!(await store.reads.mayPrune(rule))) return 0
        return removing(store, (connection) => pruneSessions(connection, rule, limit))
      }),
    deleteTries: (before, limit) =>
      using(async ({ reads, writer, search, reclaim }) => {
        if (limit < 1 || !(await reads.hasDueTries(before))) return 0
        for (;;) {
          const remove = (connection: Connection) => removeTries(connection, before, limit)
          const { runs, isDone } = await writer.work(remove, removedAtOnce)
          // A large run loses its events before it goes.
          if (runs.length === 0 && !isDone) continue
          search.forget(runs)
          reclaim()
          return runs.length
        }
      }),
    restoreSession: (copy, head = () => copy, instead) =>
      using(async ({ writer, known, hidden, removal }) => {
        const made = await restoreInSteps(
          { hidden, removal, work: (work, characters) => writer.work(work, characters) },
          copy,
          head,
          instead,
        )
        known.sawSession(copy.session.session_id)
        return made
      }),
    readRecords: (sessionId, after, limit) => reading((reads) => reads.readRecords(sessionId, after, limit)),
    listSessions: (filter, page) => reading((reads) => reads.listSessions(filter, page)),
    listOverviews: (filter, page) => reading((reads) => reads.listOverviews(filter, page)),
    findOverview: (sessionId, userId) => reading((reads) => reads.findOverview(sessionId, userId)),
    countSessions: (filter) => reading((reads) => reads.countSessions(filter)),

    startRun: (start) => {
      const write = () => writing<RunStarted>({ kind: 'start', start })
      const starting = removed(start)?.then(write) ?? write()
      if (start.claim !== null) deleteExpiredWhenDue()
      return starting
    },
    beginRun: (runId, fence, at) => writing({ kind: 'begin', begin: { runId, fence, at } }),
    appendEvents: (batch) => writing({ kind: 'append', batch }),
    finishRun: (end) =>
      end.refused === undefined
        ? writing<RunFinished>({ kind: 'finish', end })
        : using(async (store) => {
            const { writer, known, search } = store
            const { finished, numbers } = await writer.work((connection) => finishRefused(connection, end, now()))
            known.forgetRun(end.run_id)
            search.renew(numbers)
            store.reclaim()
            return finished
          }),
    resumeRun: (resume) => working((connection) => resumeRun(connection, resume)),
    findRun: (runId) => reading((reads) => reads.findRun(runId)),
    findRunHead: (runId) => reading((reads) => reads.findRunHead(runId)),
    listRuns: (filter, page) => reading((reads) => reads.listRuns(filter, page)),
    readEvents: (runId, after, limit, types) => reading((reads) => reads.readEvents(runId, after, limit, types)),
    findStateBefore: (runId) => reading((reads) => reads.findStateBefore(runId)),
    findStateAfter: (runId) => reading((reads) => reads.findStateAfter(runId)),
    restoreTurn: (runId, at) => working((connection) => restoreTurn(connection, runId, at)),
    keepTry: (kept) =>
      using(async ({ writer, search }) => {
        const { kept: outcome, numbers } = await writer.work((connection) => keepTry(connection, kept), removedAtOnce)
        search.forget(numbers)
        return outcome
      }),
    readHistory: (sessionId, limit, view) =>
      using(async ({ reads, known }) => {
        const history = await reads.readHistory(sessionId, limit, view)
        if (history.runs.length > 0) known.sawSession(sessionId)
        return history
      }),
    searchMessages: (search, page) => using((store) => store.search.find(search, page)),

    saveFile: (file) => using(({ writer }) => saveFile((work, characters) => writer.work(work, characters), file)),
    findFile: (sessionId, fileId) => reading((reads) => reads.findFile(sessionId, fileId)),
    readFilePiece: (sessionId, fileId, piece) => reading((reads) => reads.readFilePiece(sessionId, fileId, piece)),
    findFetched: (sessionId, url) => reading((reads) => reads.findFetched(sessionId, url)),
    listFiles: (runId) => reading((reads) => reads.listFiles(runId)),
    dropFiles: (runId) =>
      using(async ({ writer, reclaim }) => {
        await writer.work((connection) => dropFiles(connection, runId))
        reclaim()
      }),

    cacheAnswer: (answer) => {
      deleteExpiredWhenDue()
      return working((connection) => cacheAnswer(connection, answer))
    },
    findCached: (key) => reading((reads) => reads.findCached(key, now())),

    ...pushStore((read) => using(({ reads }) => reads.on(read)), working),
    ...factStore(
      (read) => using(({ reads }) => reads.on(read)),
      working,
      () => opened?.reclaim(),
    ),
    ...pushStore(readingOn, working),
    ...scheduleStore(readingOn, working),
    ...webhookStore(readingOn, working),
    ...auditStore(readingOn, working),

    saveSummary: (summary, last) => working((connection) => summaries.saveSummary(connection, summary, last)),
    findSummary: (sessionId) => reading((reads) => reads.findSummary(sessionId)),
    scheduleSummary: (sessionId, at) => working((connection) => summaries.scheduleSummary(connection, sessionId, at)),
    beginSummaryJob: (sessionId) => working((connection) => summaries.beginSummaryJob(connection, sessionId)),
    dropSummaryJob: (sessionId) => working((connection) => summaries.dropSummaryJob(connection, sessionId)),
    listSummaryJobs: () => reading((reads) => reads.listSummaryJobs()),

    claim: async (claim, answer) => {
      const taken = await working<ClaimRecord | undefined>((connection) => takeClaim(connection, claim, now(), answer))
      if (taken === undefined) deleteExpiredWhenDue()
      return taken
    },
    completeClaim: (key, answer) => working((connection) => completeClaim(connection, key, answer)),
    releaseClaim: (key) => working((connection) => releaseClaim(connection, key)),
    findClaim: (key) => reading((reads) => reads.findClaim(key, now())),

    recover: (owner, at) =>
      using(async ({ writer, reclaim }) => {
        const recovered = await writer.work((connection) => recover(connection, owner, at, now()))
        reclaim()
        return recovered
      }),
  }
}

function notOpen(): AppError {
  return new AppError('unavailable', 'The session store is not open.')
}
