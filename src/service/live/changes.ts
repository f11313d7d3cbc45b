import type { RunStart } from '../../core/run-write.ts'
import type { Recovered, SessionStore } from '../../core/store.ts'
import { fromPeer, toPeers, watchTakeovers } from '../peers/changes.ts'

/** Told after a write is durable, and perhaps once too often. */
export interface ChangeListener {
  /** Also stands for a change of the run's session. `going`: it has events from now on. */
  run(runId: string, going?: Going): void
  session(sessionId: string): void
  /** Several runs of a session have come or changed. */
  runs(sessionId: string): void
  /** The run took the place of turns of its session, or brought turns back. */
  turns(runId: string): void
  /** `users`: those who could see it. */
  deleted(sessionId: string, users: readonly string[]): void
  /** Lists have changed in a way that is not told one by one. `users`: whose; undefined: those of all readers. */
  lists(reason: ListsChanged, users?: readonly string[]): void
}

/** A run that begins, or is resumed. */
export interface Going {
  /** Whose turn it is; absent for a run inside of another one. */
  session_id?: string
}

/** `missed`: other servers may have changed anything. */
export type ListsChanged = 'pruned' | 'erased' | 'shared' | 'missed'

/** What changes in a store, also by other servers. Costs one comparison per write while this server has it alone. */
export interface Changes {
  /** Takes the place of the listener before. What is durable from the end of this call on is told. */
  listen(listener: ChangeListener): Promise<void>
  stop(): void
}

export interface WatchedStore {
  store: SessionStore
  changes: Changes
}

/** The same store, whose changes can be listened to. `onInterrupted`: told of the runs of processes that have died. */
export function watchStore(
  inner: SessionStore,
  onInterrupted?: (interrupted: Recovered['interrupted']) => void,
): WatchedStore {
  const { cluster } = inner
  const peers = cluster && toPeers(cluster)
  let listener: ChangeListener | undefined
  let all = peers
  /** Nobody listens, and nobody can begin to during a write: others say so at any time. */
  let isQuiet = cluster === undefined

  function hearing(): ChangeListener | undefined {
    return cluster?.isWatched === true ? all : listener
  }

  /** For writes of which there are many: not when it is quiet at their begin. */
  function telling<T>(write: Promise<T>, tell: (listener: ChangeListener, answer: T) => void): Promise<T> {
    write.then(
      (answer) => {
        const hears = hearing()
        if (hears !== undefined) tell(hears, answer)
      },
      () => {},
    )
    return write
  }

  /** For other writes, which may take long: told when there is a listener at their end. */
  async function told<T>(write: Promise<T>, tell: (listener: ChangeListener, answer: T) => unknown): Promise<T> {
    const answer = await write
    const hears = hearing()
    if (hears !== undefined) tell(hears, answer)
    return answer
  }

  function tellEnded(hears: ChangeListener | undefined, interrupted: Recovered['interrupted']): void {
    onInterrupted?.(interrupted)
    for (const { run_id: runId } of interrupted) hears?.run(runId)
  }

  function tellTakenOver(interrupted: Recovered['interrupted']): void {
    tellEnded(hearing(), interrupted)
    // What it had written but not told yet.
    hearing()?.lists('missed')
  }

  function startRun(start: RunStart) {
    const starting = inner.startRun(start)
    if (isQuiet) return starting
    return telling(starting, (hears, { outcome }) => {
      if (outcome !== 'started' && outcome !== 'queued') return
      const { run_id: runId, parent_run_id: parent, session_id } = start.run
      hears.run(runId, parent === null ? { session_id } : undefined)
      if (start.replaces !== undefined) hears.turns(runId)
    })
  }

  const store: SessionStore = {
    ...methodsOf(inner),
    cluster: cluster && watchTakeovers(cluster, tellTakenOver),
    createSession: (seed, claim) =>
      told(inner.createSession(seed, claim), (hears, made) => {
        if ('session' in made) hears.session(seed.session_id)
      }),
    updateSession: (sessionId, change, at, revision) =>
      told(inner.updateSession(sessionId, change, at, revision), (hears) => hears.session(sessionId)),
    shareSession: (sessionId, owners, at) =>
      told(inner.shareSession(sessionId, owners, at), (hears, { session }) => {
        hears.session(sessionId)
        hears.lists('shared', session.shared_with.user_ids)
      }),
    unshareSession: (sessionId, kind, ownerId, at) =>
      told(inner.unshareSession(sessionId, kind, ownerId, at), (hears, isGone) => {
        if (isGone && kind === 'user') hears.lists('shared', [ownerId])
        if (isGone) hears.session(sessionId)
      }),
    async deleteSession(sessionId) {
      const users = isQuiet ? undefined : await usersOf(inner, sessionId)
      return told(inner.deleteSession(sessionId), (hears, isDeleted) => {
        if (!isDeleted) return
        if (users === undefined) hears.lists('pruned')
        else hears.deleted(sessionId, users)
      })
    },
    restoreSession: (copy, ...more) =>
      told(inner.restoreSession(copy, ...more), (hears) => hears.runs(copy.session.session_id)),
    prune: (rule, limit) => told(inner.prune(rule, limit), (hears, count) => count > 0 && hears.lists('pruned')),
    eraseUser: (userId, limit) =>
      told(inner.eraseUser(userId, limit), (hears, count) => count > 0 && hears.lists('erased')),

    startRun,
    beginRun(runId, fence, at) {
      const beginning = inner.beginRun(runId, fence, at)
      return isQuiet ? beginning : telling(beginning, (hears) => hears.run(runId))
    },
    appendEvents(batch) {
      const appending = inner.appendEvents(batch)
      // The message is part of what lists show once it may be seen.
      if (isQuiet || batch.checked !== true) return appending
      return telling(appending, (hears) => hears.run(batch.run_id))
    },
    finishRun(end) {
      const finishing = inner.finishRun(end)
      if (isQuiet) return finishing
      return telling(finishing, (hears) => {
        hears.run(end.run_id)
        for (const runId of end.refused ?? []) hears.run(runId)
        if (end.bringsBack === true) hears.turns(end.run_id)
      })
    },
    restoreTurn: (runId, at) =>
      told(inner.restoreTurn(runId, at), (hears, { outcome }) => outcome === 'restored' && hears.turns(runId)),
    keepTry: (kept) =>
      told(inner.keepTry(kept), (hears, { outcome }) => outcome === 'kept' && hears.turns(kept.run_id)),
    resumeRun: (resume) =>
      told(inner.resumeRun(resume), (hears, { outcome }) =>
        hears.run(resume.run_id, outcome === 'resumed' ? goingOf(resume.turn_of) : undefined),
      ),
    async recover(owner, at) {
      const recovered = await inner.recover(owner, at)
      tellEnded(hearing(), recovered.interrupted)
      return recovered
    },
  }

  return {
    store,
    changes: {
      async listen(next) {
        listener = next
        all = cluster && toPeers(cluster, next)
        isQuiet = false
        await cluster?.watch((change) => fromPeer(next, change))
        // A store that can't write has no write on its way that could succeed.
        await inner.check().catch(() => {})
      },
      stop() {
        listener = undefined
        all = peers
        isQuiet = cluster === undefined
        cluster?.unwatch()
      },
    },
  }
}

function goingOf(sessionId: string | undefined): Going {
  return sessionId === undefined ? {} : { session_id: sessionId }
}

/** Its user, and those who may still read a part of it. */
async function usersOf(store: SessionStore, sessionId: string): Promise<string[]> {
  const found = await store.findSession(sessionId)
  if (found === undefined) return []
  const { user_id, shared_with } = found.session
  return user_id === null ? shared_with.user_ids : [user_id, ...shared_with.user_ids]
}

/** Of an object or a class's instance. */
function methodsOf(store: SessionStore): SessionStore {
  const methods: Record<string, unknown> = { name: store.name }
  for (let level: object | null = store; level !== null && level !== Object.prototype; ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (typeof value === 'function' && name !== 'constructor' && !(name in methods)) {
        methods[name] = value.bind(store)
      }
    }
    level = Object.getPrototypeOf(level)
  }
  return methods as unknown as SessionStore
}
