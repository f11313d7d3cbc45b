import type { RunStart } from '../../core/run-write.ts'
import type { SessionStore } from '../../core/store.ts'

/** Told after a write is durable, and perhaps once too often. */
export interface ChangeListener {
  /** Also stands for a change of the run's session. */
  run(runId: string): void
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

export type ListsChanged = 'pruned' | 'erased' | 'shared'

/** What changes in a store. Costs one comparison per write while there is no listener. */
export interface Changes {
  /** Takes the place of the listener before. Resolves when every write that began earlier is over. */
  listen(listener: ChangeListener): Promise<void>
  stop(): void
}

export interface WatchedStore {
  store: SessionStore
  changes: Changes
}

/** The same store, whose changes can be listened to. */
export function watchStore(inner: SessionStore): WatchedStore {
  let listener: ChangeListener | undefined

  /** For writes of which there are many: only those that begin while there is a listener are told. */
  function telling<T>(write: Promise<T>, tell: (listener: ChangeListener, answer: T) => void): Promise<T> {
    write.then(
      (answer) => listener !== undefined && tell(listener, answer),
      () => {},
    )
    return write
  }

  /** For other writes, which may take long: told when there is a listener at their end. */
  async function told<T>(write: Promise<T>, tell: (listener: ChangeListener, answer: T) => unknown): Promise<T> {
    const answer = await write
    if (listener !== undefined) tell(listener, answer)
    return answer
  }

  function startRun(start: RunStart) {
    const starting = inner.startRun(start)
    if (listener === undefined) return starting
    return telling(starting, (hears, { outcome }) => {
      if (outcome !== 'started' && outcome !== 'queued') return
      hears.run(start.run.run_id)
      if (start.replaces !== undefined) hears.turns(start.run.run_id)
    })
  }

  const store: SessionStore = {
    ...methodsOf(inner),
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
      const users = listener === undefined ? [] : await usersOf(inner, sessionId)
      return told(inner.deleteSession(sessionId), (hears, isDeleted) => {
        if (isDeleted) hears.deleted(sessionId, users)
      })
    },
    restoreSession: (copy, head) =>
      told(inner.restoreSession(copy, head), (hears) => hears.runs(copy.session.session_id)),
    prune: (rule, limit) => told(inner.prune(rule, limit), (hears, count) => count > 0 && hears.lists('pruned')),
    eraseUser: (userId, limit) =>
      told(inner.eraseUser(userId, limit), (hears, count) => count > 0 && hears.lists('erased')),

    startRun,
    beginRun(runId, fence, at) {
      const beginning = inner.beginRun(runId, fence, at)
      return listener === undefined ? beginning : telling(beginning, (hears) => hears.run(runId))
    },
    appendEvents(batch) {
      const appending = inner.appendEvents(batch)
      // The message is part of what lists show once it may be seen.
      if (listener === undefined || batch.checked !== true) return appending
      return telling(appending, (hears) => hears.run(batch.run_id))
    },
    finishRun(end) {
      const finishing = inner.finishRun(end)
      if (listener === undefined) return finishing
      return telling(finishing, (hears) => {
        hears.run(end.run_id)
        for (const runId of end.refused ?? []) hears.run(runId)
        if (end.bringsBack === true) hears.turns(end.run_id)
      })
    },
    restoreTurn: (runId, at) =>
      told(inner.restoreTurn(runId, at), (hears, { outcome }) => outcome === 'restored' && hears.turns(runId)),
    resumeRun: (resume) => told(inner.resumeRun(resume), (hears) => hears.run(resume.run_id)),
  }

  return {
    store,
    changes: {
      async listen(next) {
        listener = next
        // A store that can't write has no write on its way that could succeed.
        await inner.check().catch(() => {})
      },
      stop() {
        listener = undefined
      },
    },
  }
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
