import { isAppError } from '../../core/error.ts'
import { isFinalEvent } from '../../core/event.ts'
import type { RunStatus } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import { type Clock, timestamp } from '../../core/time.ts'
import { pause } from '../../runtime/abort.ts'
import { filesOf } from '../files/content.ts'
import type { Runs, Sessions, UserPiece, Users } from '../services.ts'

const sessionsAtOnce = 100
const runsAtOnce = 100
const eventsAtOnce = 500
const activeStatuses: readonly RunStatus[] = ['running', 'queued', 'input_required']

interface Options {
  store: SessionStore
  sessions: Sessions
  runs: Runs
  clock: Clock
  /** Takes the name out of what else knows it. */
  onErased?: ((userId: string) => Promise<void>) | undefined
}

export function createUsers({ store, sessions, runs, clock, onErased }: Options): Users {
  /** The user's sessions (`isOwn`), and sessions that name the user in `shared_with`. */
  async function* sessionsOf(userId: string): AsyncGenerator<{ sessionId: string; isOwn: boolean }> {
    for (let cursor: string | undefined; ; ) {
      const page = await store.listSessions({ user_id: userId }, { limit: sessionsAtOnce, cursor })
      for (const { session_id, user_id } of page.items) yield { sessionId: session_id, isOwn: user_id === userId }
      if (page.next === null) return
      cursor = page.next
    }
  }

  async function* runsElsewhere(userId: string, statuses: readonly (RunStatus | undefined)[]): AsyncGenerator<string> {
    const owners = new Map<string, string | null | undefined>()
    for (const status of statuses) {
      for (let cursor: string | undefined; ; ) {
        const page = await store.listRuns({ user_id: userId, status }, { limit: runsAtOnce, cursor })
        for (const { run_id, session_id } of page.items) {
          if (!owners.has(session_id)) owners.set(session_id, (await store.findSession(session_id))?.session.user_id)
          if (owners.get(session_id) !== userId) yield run_id
        }
        if (page.next === null) break
        cursor = page.next
      }
    }
  }

  async function* pieces(userId: string): AsyncGenerator<UserPiece> {
    yield { user_id: userId, exported_at: timestamp(clock()) }
    let sessionCount = 0
    let runCount = 0
    const shared: string[] = []
    for await (const { sessionId, isOwn } of sessionsOf(userId)) {
      if (!isOwn) shared.push(sessionId)
      else {
        const found = await unlessGone(sessions.export(sessionId, true))
        if (found === undefined) continue
        yield { session: found.value }
        sessionCount++
      }
    }
    for (const sessionId of shared) yield { shared: sessionId }
    for await (const runId of runsElsewhere(userId, [undefined])) {
      const run = await store.findRun(runId)
      if (run === undefined) continue
      runCount++
      yield { run }
      for (let after = 0; ; ) {
        const events = await store.readEvents(runId, after, eventsAtOnce)
        const last = events.at(-1)
        if (last === undefined) break
        const recorded = events.filter((event) => event.type !== 'run_start' && !isFinalEvent(event))
        if (recorded.length > 0) yield { run_id: runId, events: recorded }
        after = last.seq
      }
      for await (const file of filesOf(store, runId)) yield { run_id: runId, file }
    }
    const facts = await store.listFacts(userId)
    if (facts.length > 0) yield { facts }
    yield { sessions: sessionCount, runs: runCount, facts: facts.length }
  }

  async function deleteSessions(userId: string): Promise<number> {
    let count = 0
    for await (const { sessionId, isOwn } of sessionsOf(userId)) {
      if (!isOwn) continue
      if (await unlessGone(sessions.delete(sessionId))) count++
    }
    return count
  }

  return {
    export: (userId) => pieces(userId),
    async erase(userId) {
      for await (const runId of runsElsewhere(userId, activeStatuses)) await unlessGone(runs.cancel(runId))
      // Before the sessions are deleted: their runs would leave idempotency keys behind. The next round takes what came meanwhile.
      for (let found = 1; found > 0; ) {
        found = 0
        for (let step = 1; step > 0; found += step) step = await eraseStep(userId)
        found += await deleteSessions(userId)
      }
      await onErased?.(userId)
    },
  }

  async function eraseStep(userId: string): Promise<number> {
    const begunMs = performance.now()
    const count = await store.eraseUser(userId, runsAtOnce)
    // Other writes wait for one step at most.
    if (count > 0) await pause(performance.now() - begunMs)
    return count
  }
}

/** Undefined when the session or run is gone, or the run has ended, in the meantime. */
async function unlessGone<T>(work: Promise<T>): Promise<{ value: T } | undefined> {
  try {
    return { value: await work }
  } catch (error) {
    if (!isAppError(error) || !['session_not_found', 'run_not_found', 'conflict'].includes(error.code)) throw error
    return undefined
  }
}
