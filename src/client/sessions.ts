import type { RunStatus } from '../core/run.ts'
import type { Summary } from '../core/summary.ts'
import type { History } from '../wire/history.ts'
import type { MessageHitList } from '../wire/message.ts'
import type { RunList } from '../wire/run.ts'
import type {
  CreateSessionRequest,
  PruneSessionsRequest,
  ReuseSessionRequest,
  Session,
  SessionDeleted,
  SessionList,
  SessionsPruned,
  UpdateSessionRequest,
} from '../wire/session.ts'
import type { SummaryAnswer, SummaryScheduled } from '../wire/summary.ts'
import { createSessionCopiesClient, type SessionCopiesClient } from './session-copies.ts'
import type { CallOptions, Connection, KeyedOptions, PageOptions } from './transport/connection.ts'

export interface SessionFilter {
  agent_id?: string | undefined
  team_id?: string | undefined
  workflow_id?: string | undefined
  user_id?: string | undefined
}

export interface MessageFilter extends SessionFilter {
  session_id?: string | undefined
}

export interface SessionListFilter extends SessionFilter {
  /** Those that have not changed since; RFC 3339 in UTC with milliseconds. */
  updated_before?: string | undefined
}

export interface SessionsClient extends SessionCopiesClient {
  /** A `session_id` that is taken is `conflict`. */
  create(session?: CreateSessionRequest, options?: KeyedOptions): Promise<Session>
  /** With its newest 100 runs. */
  get(sessionId: string, options?: CallOptions): Promise<Session>
  /** The session and the ETag that `update` takes as `ifMatch`. */
  getTagged(sessionId: string, options?: CallOptions): Promise<{ session: Session; etag: string | undefined }>
  /** With `ifMatch`: `precondition_failed` when it has changed since. */
  update(
    sessionId: string,
    change: UpdateSessionRequest,
    options?: CallOptions & { ifMatch?: string | undefined },
  ): Promise<Session>
  /** With its runs and messages; a run under way is cancelled first. */
  delete(sessionId: string, options?: CallOptions): Promise<SessionDeleted>
  /** The latest updated first. */
  list(filter?: SessionListFilter, options?: PageOptions): Promise<SessionList>
  /** Gives it other owners too; it is found under the earlier ones still. */
  reuse(sessionId: string, owners: ReuseSessionRequest, options?: CallOptions): Promise<Session>
  /** Takes the name of an earlier owner out of `shared_with`: an earlier user then sees nothing of it any more. */
  unshare(
    sessionId: string,
    kind: 'user' | 'agent' | 'team' | 'workflow',
    ownerId: string,
    options?: CallOptions,
  ): Promise<void>
  /**
   * Deletes those that have not changed since `updated_before`, but none with a run under way. The server stops after some
   * seconds: `has_more` says to ask again.
   */
  prune(request: PruneSessionsRequest, options?: CallOptions): Promise<SessionsPruned>
  /**
   * Messages with all the words of the query, the newest first; `open*` finds words that begin so. A page may have fewer than
   * `limit` and be followed by others.
   */
  search(query: string, filter?: MessageFilter, options?: PageOptions): Promise<MessageHitList>
  /** The latest `interactions` (1–1000, default 50), oldest first. */
  history(
    sessionId: string,
    options?: CallOptions & { interactions?: number | undefined; events?: boolean | undefined },
  ): Promise<History>
  /** The newest first. */
  runs(
    sessionId: string,
    filter?: { status?: RunStatus | undefined; agent_id?: string | undefined },
    options?: PageOptions,
  ): Promise<RunList>
  summary: SummaryClient
}

export interface SummaryClient {
  /** The latest; `summary_not_found` until there is one. */
  get(sessionId: string, options?: CallOptions): Promise<Summary>
  /** Waits for it. */
  generate(sessionId: string, options?: CallOptions): Promise<Summary>
  /** Has it made in the background. */
  schedule(sessionId: string, options?: CallOptions): Promise<SummaryScheduled>
}

export function createSessionsClient(connection: Connection, prefix: string): SessionsClient {
  const path = (sessionId: string, rest = '') => `${prefix}/sessions/${encodeURIComponent(sessionId)}${rest}`
  const get = (sessionId: string, options?: CallOptions) =>
    connection.answer<Session>({ ...options, method: 'GET', path: path(sessionId), repeat: 'safe' })

  return {
    create: (session = {}, options) => connection.post(`${prefix}/sessions`, session, 'keyed', options),
    get: async (sessionId, options) => (await get(sessionId, options)).value,
    async getTagged(sessionId, options) {
      const { value, headers } = await get(sessionId, options)
      return { session: value, etag: headers.etag }
    },
    update: (sessionId, change, { ifMatch, ...options } = {}) =>
      connection.json({
        ...options,
        method: 'PUT',
        path: path(sessionId),
        body: change,
        headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
        // A second try would find the tag changed by the first.
        repeat: ifMatch === undefined ? 'safe' : 'never',
      }),
    delete: (sessionId, options) =>
      connection.json({ ...options, method: 'DELETE', path: path(sessionId), repeat: 'never' }),
    list: (filter, options) => connection.list(`${prefix}/sessions`, filter, options),
    reuse: (sessionId, owners, options) => connection.post(path(sessionId, '/reuse'), owners, 'safe', options),
    unshare: async (sessionId, kind, ownerId, options) => {
      const place = path(sessionId, `/shared/${kind}/${encodeURIComponent(ownerId)}`)
      await connection.text({ ...options, method: 'DELETE', path: place, repeat: 'never' })
    },
    prune: (request, options) => connection.post(`${prefix}/sessions/prune`, request, 'safe', options),
    ...createSessionCopiesClient(connection, prefix),
    search: (query, filter, options) => connection.list(`${prefix}/messages`, { ...filter, q: query }, options),
    history: (sessionId, { interactions, events, ...options } = {}) =>
      connection.get(path(sessionId, '/history'), options, { num_messages: interactions, stream_events: events }),
    runs: (sessionId, filter, options) => connection.list(path(sessionId, '/runs'), filter, options),
    summary: createSummaryClient(connection, path),
  }
}

function createSummaryClient(
  connection: Connection,
  path: (sessionId: string, rest?: string) => string,
): SummaryClient {
  return {
    async get(sessionId, options) {
      const call = { ...options, method: 'GET', path: path(sessionId, '/summary'), repeat: 'safe' } as const
      return (await connection.json<SummaryAnswer>(call)).summary
    },
    async generate(sessionId, options) {
      const call = {
        ...options,
        method: 'POST',
        path: path(sessionId, '/summary'),
        repeat: 'safe',
        long: true,
      } as const
      return (await connection.json<SummaryAnswer>({ ...call, query: { async: false } })).summary
    },
    schedule: (sessionId, options) =>
      connection.json({
        ...options,
        method: 'POST',
        path: path(sessionId, '/summary'),
        query: { async: true },
        repeat: 'safe',
      }),
  }
}
