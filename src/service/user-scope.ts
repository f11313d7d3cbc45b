import { AppError, isAppError, notFound } from '../core/error.ts'
import type { RunHead } from '../core/run.ts'
import type { Session } from '../core/session.ts'
import type { Services } from './services.ts'

/**
 * The services as one user may use them: sessions that are or were the user's (`user_id`, `shared_with`), and runs that are
 * the user's or in such a session. Everything else does not exist, ids included; what is made belongs to the user.
 * Agents and knowledge are everybody's.
 */
export function scopeToUser(services: Services, userId: string): Services {
  const { sessions, runs, summaries } = services

  const owns = ({ user_id, shared_with }: Session) => user_id === userId || shared_with.user_ids.includes(userId)

  async function ownSession(sessionId: string) {
    const record = await sessions.get(sessionId)
    if (!owns(record.session)) throw notFound('session', sessionId)
    return record
  }

  async function findSession(sessionId: string): Promise<Session | undefined> {
    try {
      return (await sessions.get(sessionId)).session
    } catch (error) {
      if (isAppError(error) && error.code === 'session_not_found') return undefined
      throw error
    }
  }

  /** Made before its first run, so that of two users who name the same new session one gets it, and the other none. */
  async function makeSession(sessionId: string, entityId: string): Promise<void> {
    const { kind } = services.registry.get(entityId)
    try {
      await sessions.create({ session_id: sessionId, [`${kind}_id`]: entityId, user_id: userId })
    } catch (error) {
      if (!isAppError(error) || error.code !== 'conflict') throw error
      await ownSession(sessionId)
    }
  }

  async function ownRun<R extends RunHead>(reading: Promise<R>, runId: string): Promise<R> {
    const run = await reading
    if (run.user_id === userId) return run
    const session = await findSession(run.session_id)
    if (session === undefined || !owns(session)) throw notFound('run', runId)
    return run
  }

  function assertOwn(given: string | null | undefined): void {
    if (given !== undefined && given !== null && given !== userId) {
      throw new AppError('forbidden', `This key belongs to the user '${userId}' and can't act for another.`)
    }
  }

  return {
    ...services,
    backup() {
      throw new AppError('forbidden', `This key belongs to the user '${userId}': a backup holds everybody's data.`)
    },
    sessions: {
      async create(seed, idempotency) {
        assertOwn(seed.user_id)
        return sessions.create({ ...seed, user_id: userId }, idempotency)
      },
      get: ownSession,
      async update(sessionId, change, revision) {
        await ownSession(sessionId)
        return sessions.update(sessionId, change, revision)
      },
      async delete(sessionId) {
        await ownSession(sessionId)
        return sessions.delete(sessionId)
      },
      async list(filter, page) {
        if (filter.user_id !== undefined && filter.user_id !== userId) return { items: [], next: null }
        return sessions.list({ ...filter, user_id: userId }, page)
      },
      async reuse(sessionId, owners) {
        await ownSession(sessionId)
        assertOwn(owners.user_id)
        return sessions.reuse(sessionId, owners)
      },
      async fork(sessionId, fork) {
        await ownSession(sessionId)
        return sessions.fork(sessionId, { ...fork, userId })
      },
      async export(sessionId, withEvents) {
        await ownSession(sessionId)
        return sessions.export(sessionId, withEvents)
      },
      async import(copy, options) {
        assertOwn(copy.session.user_id)
        return sessions.import(copy, { ...options, userId })
      },
      async prune(rule) {
        assertOwn(rule.filter.user_id)
        return sessions.prune({ ...rule, filter: { ...rule.filter, user_id: userId } })
      },
      async search(query, filter, page) {
        if (filter.user_id !== undefined && filter.user_id !== userId) return { items: [], next: null }
        return sessions.search(query, { ...filter, user_id: userId }, page)
      },
      async history(sessionId, interactions, withEvents) {
        await ownSession(sessionId)
        return sessions.history(sessionId, interactions, withEvents)
      },
    },
    runs: {
      async start(options) {
        assertOwn(options.userId)
        const { sessionId, entityId, unknownSession } = options
        const session = sessionId === undefined ? undefined : await findSession(sessionId)
        if (session !== undefined && !owns(session)) throw notFound('session', session.session_id)
        if (sessionId !== undefined && session === undefined && unknownSession === 'create')
          await makeSession(sessionId, entityId)
        return runs.start({ ...options, userId })
      },
      get: (runId) => ownRun(runs.get(runId), runId),
      head: (runId) => ownRun(runs.head(runId), runId),
      list: (filter, page) => runs.list({ ...filter, user_id: userId }, page),
      async cancel(runId, reason) {
        await ownRun(runs.head(runId), runId)
        return runs.cancel(runId, reason)
      },
      async resume(runId, answer) {
        await ownRun(runs.head(runId), runId)
        return runs.resume(runId, answer)
      },
      async events(runId, after, signal) {
        await ownRun(runs.head(runId), runId)
        return runs.events(runId, after, signal)
      },
      withPrompts: runs.withPrompts,
      async trace(runId, page) {
        await ownRun(runs.head(runId), runId)
        return runs.trace(runId, page)
      },
    },
    summaries: {
      async get(sessionId) {
        await ownSession(sessionId)
        return summaries.get(sessionId)
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
}
