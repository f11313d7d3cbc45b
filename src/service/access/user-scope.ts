import { AppError, isAppError, notFound } from '../../core/error.ts'
import type { RunHead } from '../../core/run.ts'
import type { Session } from '../../core/session.ts'
import type { SessionListFilter, SessionStore } from '../../core/store.ts'
import type { Services } from '../services.ts'
import { createReading } from '../sessions/shared-reading.ts'
import { noSummary } from '../sessions/summaries.ts'
import { ownSchedules } from './own-schedules.ts'

/**
 * The services restricted to one user. The user may read the user's own sessions and runs, and of sessions that were handed
 * over to another user the part until then. Everything else does not exist, ids included. New sessions and runs belong to the
 * user; only what belongs to the user now can be changed. Agents and knowledge are shared by all users.
 */
export function scopeToUser(
  services: Services,
  store: Pick<SessionStore, 'findHandover' | 'isBefore'>,
  userId: string,
): Services {
  const { sessions, runs, summaries, facts, schedules, notifications } = services
  const reading = createReading(services, store, userId)

  async function ownSession(sessionId: string): Promise<void> {
    const { session } = await sessions.get(sessionId)
    if (session.user_id !== userId) throw notFound('session', sessionId)
  }

  async function findSession(sessionId: string): Promise<Session | undefined> {
    try {
      return (await sessions.get(sessionId)).session
    } catch (error) {
      if (isAppError(error) && error.code === 'session_not_found') return undefined
      throw error
    }
  }

  /** Creates the session before its first run: if two users name the same new session, only one of them gets it. */
  async function makeSession(sessionId: string, entityId: string): Promise<void> {
    const { kind } = services.registry.get(entityId)
    try {
      await sessions.create({ session_id: sessionId, [`${kind}_id`]: entityId, user_id: userId })
    } catch (error) {
      if (!isAppError(error) || error.code !== 'conflict') throw error
      await ownSession(sessionId)
    }
  }

  /** For changes: the run is in the user's session, or it is the user's run in a session without a user. */
  async function ownRun(runId: string): Promise<void> {
    const run: RunHead = await runs.head(runId)
    const session = await findSession(run.session_id)
    const isOwn = session?.user_id === userId || (session?.user_id === null && run.user_id === userId)
    if (!isOwn) throw notFound('run', runId)
  }

  /** For changes of the conversation. */
  async function runInOwnSession(runId: string): Promise<void> {
    const { session_id: sessionId } = await runs.head(runId)
    if ((await findSession(sessionId))?.user_id !== userId) throw notFound('run', runId)
  }

  function assertOwn(given: string | null | undefined): void {
    if (given !== undefined && given !== null && given !== userId) {
      throw new AppError('forbidden', `This key belongs to the user '${userId}' and can't act for another user.`)
    }
  }

  function own(user: string): string {
    assertOwn(user)
    return user
  }

  const isForeign = ({ user_id }: SessionListFilter) => user_id !== undefined && user_id !== userId
  const asSeen = (filter: SessionListFilter) => ({ ...filter, user_id: userId, as_user: true })

  function refuseAdmin(): never {
    throw new AppError('forbidden', `This key belongs to the user '${userId}' and can't act for all users.`)
  }

  return {
    ...services,
    backup: () => refuseAdmin(),
    audit: services.audit && { list: async () => refuseAdmin() },
    again: async () => refuseAdmin(),
    async keep(runId, as) {
      await runInOwnSession(runId)
      return services.keep(runId, as)
    },
    users: { export: () => refuseAdmin(), erase: async () => refuseAdmin() },
    facts: {
      list: async (user) => facts.list(own(user)),
      delete: async (user, factId) => facts.delete(own(user), factId),
      deleteAll: async (user) => facts.deleteAll(own(user)),
    },
    schedules: ownSchedules(schedules, userId),
    notifications: notifications && {
      check: (target) => notifications.check(target),
      async set(runId, target) {
        await ownRun(runId)
        return notifications.set(runId, target)
      },
      async list(runId) {
        await ownRun(runId)
        return notifications.list(runId)
      },
      async delete(runId, id) {
        await ownRun(runId)
        return notifications.delete(runId, id)
      },
    },
    sessions: {
      async create(seed, idempotency) {
        assertOwn(seed.user_id)
        return sessions.create({ ...seed, user_id: userId }, idempotency)
      },
      async get(sessionId) {
        const { record, part } = await reading.session(sessionId)
        return part === undefined ? record : { ...record, session: part.session }
      },
      async update(sessionId, change, revision) {
        await ownSession(sessionId)
        return sessions.update(sessionId, change, revision)
      },
      async delete(sessionId) {
        await ownSession(sessionId)
        return sessions.delete(sessionId)
      },
      async list(filter, page) {
        if (isForeign(filter)) return { items: [], next: null }
        const found = await sessions.list(asSeen(filter), page)
        return { ...found, items: await reading.listed(found.items) }
      },
      async heads(filter, page) {
        return isForeign(filter) ? { items: [], next: null } : sessions.heads(asSeen(filter), page)
      },
      async count(filter) {
        return isForeign(filter) ? 0 : sessions.count(asSeen(filter))
      },
      async reuse(sessionId, owners) {
        await ownSession(sessionId)
        assertOwn(owners.user_id)
        return sessions.reuse(sessionId, owners)
      },
      async unshare(sessionId, kind, ownerId) {
        await ownSession(sessionId)
        return sessions.unshare(sessionId, kind, ownerId)
      },
      async fork(sessionId, fork) {
        await ownSession(sessionId)
        return sessions.fork(sessionId, { ...fork, userId })
      },
      async export(sessionId, withEvents) {
        const { part } = await reading.session(sessionId)
        return sessions.export(sessionId, withEvents, part && { ...part, session: ownCopyOf(part.session) })
      },
      async import(copy, options) {
        assertOwn(copy.session.user_id)
        return sessions.import(copy, { ...options, userId })
      },
      file: (sessionId, fileId) => reading.file(sessionId, fileId),
      async prune(rule) {
        assertOwn(rule.filter.user_id)
        return sessions.prune({ ...rule, presentUser: userId })
      },
      async search(query, filter, page) {
        if (filter.user_id !== undefined && filter.user_id !== userId) return { items: [], next: null }
        return sessions.search(query, { ...filter, reader: userId }, page)
      },
      async history(sessionId, interactions, withEvents, view) {
        const { part } = await reading.session(sessionId)
        if (part === undefined) return sessions.history(sessionId, interactions, withEvents, view)
        const history = await reading.history(sessionId, view, (seen) =>
          sessions.history(sessionId, interactions, withEvents, seen),
        )
        return { ...history, summary: part.session.summary }
      },
      async state(sessionId, at) {
        const { part } = await reading.session(sessionId)
        return part === undefined ? sessions.state(sessionId, at) : part.session.state
      },
      async active(sessionId) {
        return (await findSession(sessionId))?.user_id === userId ? sessions.active(sessionId) : undefined
      },
    },
    runs: {
      async start(options) {
        assertOwn(options.userId)
        const { sessionId, entityId, unknownSession } = options
        if (sessionId !== undefined) {
          const session = await findSession(sessionId)
          if (session === undefined && unknownSession === 'create') await makeSession(sessionId, entityId)
          // Another user's session answers like a missing one, after the same work.
          else if (session?.user_id !== userId) throw notFound('session', sessionId)
        }
        return runs.start({ ...options, userId, keyHasUser: true })
      },
      get: (runId) => reading.run(runs.get(runId), runId),
      head: (runId) => reading.run(runs.head(runId), runId),
      list: (filter, page) => reading.runs(filter, page),
      async cancel(runId, reason) {
        await ownRun(runId)
        return runs.cancel(runId, reason)
      },
      async restore(runId) {
        await runInOwnSession(runId)
        return runs.restore(runId)
      },
      async resume(runId, answer) {
        await ownRun(runId)
        return runs.resume(runId, answer)
      },
      async events(runId, after, signal) {
        await reading.run(runs.head(runId), runId)
        return runs.events(runId, after, signal)
      },
      async recordedEvents(runId, signal) {
        await reading.run(runs.head(runId), runId)
        return runs.recordedEvents(runId, signal)
      },
      withPrompts: runs.withPrompts,
      async trace(runId, page) {
        await reading.run(runs.head(runId), runId)
        return runs.trace(runId, page)
      },
    },
    summaries: {
      async get(sessionId) {
        const { part } = await reading.session(sessionId)
        if (part === undefined) return summaries.get(sessionId)
        if (part.session.summary === null) throw noSummary(sessionId)
        return part.session.summary
      },
      async schedule(sessionId) {
        await ownSession(sessionId)
        return summaries.schedule(sessionId)
      },
      async generate(sessionId) {
        await ownSession(sessionId)
        return summaries.generate(sessionId)
      },
    },
  }

  /** A former user's copy belongs to that user alone. */
  function ownCopyOf(session: Session): Session {
    return { ...session, user_id: userId, shared_with: { ...session.shared_with, user_ids: [] } }
  }
}
