import type { StoreCluster } from '../../core/cluster/cluster.ts'
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
 * A cache over a store that other processes write to, for what runs read of their sessions. The answer to a start brings the
 * revision of the session. What is cached counts if that is one higher than after the last write from here: nobody else has
 * changed anything. All other reads go to the store.
 *
 * The revision of an entry may be too low, never too high: writes of others are missing in it, and so are those from here that
 * are no part of a run. Then the next start finds that out. As with `cachedStore`, answers are shared, and what is passed to
 * a start is frozen.
 */
export function validatedStore(store: SessionStore, limits: Partial<MemoryLimits> = {}): SessionStore {
  const memory = new SessionCache(limits)
  /** Sessions by the id of a run that was started here and has not ended. */
  const sessions = new DenseMap<string, CacheEntry>()

  /** `put` updates the entry with the answer; undefined when the write failed. */
  function writing<T>(known: CacheEntry, runId: string, write: Promise<T>, put: (answer?: T) => void): Promise<T> {
    const underWay = known.asked - known.answered
    // They may be written in any order, with writes of others in between. Only a run's own end is always after its start.
    if (underWay > 1 || (underWay === 1 && known.starting !== runId)) known.isUnordered = true
    const ticket = ++known.asked
    const written = (answer?: T) => {
      // Its runs may have been given up, and the entry with them.
      if (memory.find(known.sessionId) === known) memory.written(known, ticket, () => put(answer))
    }
    return write.then(
      (answer) => {
        written(answer)
        return answer
      },
      (error: unknown) => {
        written()
        throw error
      },
    )
  }

  function ended(runId: string): void {
    const known = sessions.get(runId)
    if (known === undefined) return
    sessions.delete(runId)
    memory.runEnds(known)
  }

  /** No end comes of runs that another process has taken over. */
  function forgetAll(): void {
    for (const runId of sessions.keys()) ended(runId)
    memory.forgetAll()
  }

  function startRun(start: RunStart): Promise<RunStarted> {
    try {
      freezeStart(start)
    } catch (error) {
      return Promise.reject(error)
    }
    if (isTry(start.run)) return store.startRun(start)
    const { run_id: runId, session_id: sessionId } = start.run
    const known = memory.runBegins(sessionId)
    sessions.set(runId, known)
    if (known.asked === known.answered) known.starting = runId
    known.startsUnderWay++
    return writing(known, runId, store.startRun(start), (started) => {
      known.startsUnderWay--
      if (known.starting === runId) known.starting = undefined
      if (started?.outcome === 'started' || started?.outcome === 'queued') return takeStart(known, start, started)
      if (started === undefined) known.clear()
      ended(runId)
    })
  }

  function takeStart(known: CacheEntry, start: RunStart, started: Extract<RunStarted, { fence: number }>): void {
    const { revision, birth } = started
    const isNext = revision !== undefined && revision - 1 === known.revision && birth === known.birth
    if (started.created_session) known.begin(start)
    else if (!isNext || start.replaces !== undefined) known.clear()
    // The run's own end is under way. What else may have changed between the two is not known.
    if (!started.created_session && known.asked > known.answered) known.isUnordered = true
    known.startRun(started.outcome === 'queued' ? waiting(start) : start)
    if (revision === undefined) known.clear()
    known.revision = revision
    known.birth = birth
  }

  function beginRun(runId: string, fence: number, at: string): Promise<RunBegun> {
    const known = sessions.get(runId)
    if (known === undefined) return store.beginRun(runId, fence, at)
    return writing(known, runId, store.beginRun(runId, fence, at), (begun) => {
      if (begun === 'wait') return
      // The run may have waited for runs of others.
      clearAfter(known, begun === 'begun')
    })
  }

  function finishRun(end: RunEnd): Promise<RunFinished> {
    const known = sessions.get(end.run_id)
    if (known === undefined) return store.finishRun(end)
    return writing(known, end.run_id, store.finishRun(end), (finished) => {
      const { revision } = known
      const isPlain = finished === 'ok' && end.refused === undefined && end.bringsBack !== true
      if (!isPlain) clearAfter(known, finished === 'ok')
      else {
        known.endRun(end)
        known.revision = revision && revision + 1
      }
      ended(end.run_id)
    })
  }

  function appendEvents(batch: RunBatch): Promise<EventsAppended> {
    const { run_id: runId, checked } = batch
    const appending = store.appendEvents(batch)
    const known = checked === true ? sessions.get(runId) : undefined
    if (known === undefined) return withEndOf(runId, appending)
    const showing = writing(known, runId, appending, (appended) => {
      if (appended === undefined) known.clear()
      else if (appended === 'ok') known.showMessage(runId)
    })
    return withEndOf(runId, showing)
  }

  /** A run that can't append has lost its session, or another process has it. */
  async function withEndOf(runId: string, append: Promise<EventsAppended>): Promise<EventsAppended> {
    const appended = await append
    if (appended !== 'ok') ended(runId)
    return appended
  }

  /** `isWritten`: the write has raised the revision by one. */
  function clearAfter(known: CacheEntry, isWritten: boolean): void {
    const { revision } = known
    known.clear()
    if (isWritten && revision !== undefined) known.revision = revision + 1
  }

  /** What a run under way may be told from here. */
  function knownTo(reader: string | undefined): CacheEntry | undefined {
    const known = reader === undefined ? undefined : sessions.get(reader)
    return known?.revision === undefined || known.startsUnderWay > 0 ? undefined : known
  }

  /** Caches what was read, unless a write came in between. */
  async function reading<T>(
    known: CacheEntry | undefined,
    read: Promise<T>,
    put: (known: CacheEntry, value: T) => void,
  ) {
    const version = known?.version
    const value = await read
    if (known !== undefined && known.version === version) memory.keep(known, () => put(known, value))
    return value
  }

  /** What was deleted need not stay in memory until others take its place. */
  async function forgetting(write: Promise<number>): Promise<number> {
    const count = await write
    if (count !== 0) memory.forgetAll()
    return count
  }

  return {
    ...store,
    cluster: store.cluster && rejoining(store.cluster, forgetAll),
    async close() {
      await store.close()
      forgetAll()
    },
    async deleteSession(sessionId) {
      const isDeleted = await store.deleteSession(sessionId)
      memory.forget(sessionId)
      return isDeleted
    },
    prune: (rule, limit) => forgetting(store.prune(rule, limit)),
    eraseUser: (userId, limit) => forgetting(store.eraseUser(userId, limit)),

    startRun,
    beginRun,
    finishRun,
    appendEvents,

    async readBasis(sessionId, reader) {
      const known = knownTo(reader)
      const read = () => store.readBasis?.(sessionId) ?? store.findSession(sessionId).then((found) => found?.session)
      return known?.basis ?? reading(known, read(), (session, basis) => session.setBasis(basis))
    },
    async readHistory(sessionId, limit, view, reader) {
      if (view !== undefined) return store.readHistory(sessionId, limit, view)
      const known = knownTo(reader)
      known?.wantRuns(limit)
      const read = () => store.readHistory(sessionId, limit)
      return known?.history(limit) ?? reading(known, read(), (session, history) => session.setHistory(history, limit))
    },
    async findSummary(sessionId, reader) {
      const known = knownTo(reader)
      if (known?.summary !== undefined) return known.summary ?? undefined
      return reading(known, store.findSummary(sessionId), (session, summary) => session.setSummary(summary ?? null))
    },
  }
}

/** The store may have made it wait. */
function waiting(start: RunStart): RunStart {
  return start.run.status === 'queued' ? start : { ...start, run: { ...start.run, status: 'queued', started_at: null } }
}

/** Calls `onJoin` when the process joins, also after it was declared dead. */
function rejoining(cluster: StoreCluster, onJoin: () => void): StoreCluster {
  const join: StoreCluster['join'] = (self) => {
    onJoin()
    return cluster.join(self)
  }
  return new Proxy(cluster, {
    get(target, name) {
      if (name === 'join') return join
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
