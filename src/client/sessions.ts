import type { RunStatus } from '../core/run.ts'
import type { Summary } from '../core/summary.ts'
import type { History } from '../wire/history.ts'
import type { MessageHitList } from '../wire/message.ts'
import type { SessionRunList } from '../wire/run.ts'
import type { SavedTest } from '../wire/saved-test.ts'
import type {
  CreateSessionRequest,
  PruneSessionsRequest,
  ReuseSessionRequest,
  Session,
  SessionDeleted,
  SessionHeadList,
  SessionList,
  SessionsPruned,
  UpdateSessionRequest,
} from '../wire/session.ts'
import type { SummaryAnswer, SummaryScheduled } from '../wire/summary.ts'
import { createSessionCopiesClient, type PageSessionCopiesClient, type SessionCopiesClient } from './session-copies.ts'
import type { CallOptions, Connection, KeyedOptions, PageOptions } from './transport/connection.ts'
import { parse } from './transport/json.ts'

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
  /** Only sessions that have not changed since this time (RFC 3339 in UTC with milliseconds). */
  updated_before?: string | undefined
  /** The status of the last turn. */
  status?: RunStatus | undefined
  /** Count the sessions of all pages. */
  total?: boolean | undefined
}

/** A file of a session. */
export interface SessionFile {
  bytes: Uint8Array
  /** `application/octet-stream` for all but common images and PDF: the part has the type that was given. */
  media_type: string
  /** As the sender named it: not safe as a path. */
  name: string | undefined
}

export interface SessionsClient extends SessionCopiesClient {
  /** Throws `conflict` if the `session_id` exists. */
  create(session?: CreateSessionRequest, options?: KeyedOptions): Promise<Session>
  /** The session with its newest 100 runs. */
  get(sessionId: string, options?: CallOptions): Promise<Session>
  /** The session and the ETag that `update` takes as `ifMatch`. */
  getTagged(sessionId: string, options?: CallOptions): Promise<{ session: Session; etag: string | undefined }>
  /** With `ifMatch`, throws `precondition_failed` if the session has changed since. */
  update(
    sessionId: string,
    change: UpdateSessionRequest,
    options?: CallOptions & { ifMatch?: string | undefined },
  ): Promise<Session>
  /** Deletes the session with its runs and messages. Active runs are cancelled first. */
  delete(sessionId: string, options?: CallOptions): Promise<SessionDeleted>
  /** Last updated first. With `view: 'head'` what a list shows of each, which costs much less. */
  list(filter: SessionListFilter & { view: 'head' }, options?: PageOptions): Promise<SessionHeadList>
  list(filter?: SessionListFilter, options?: PageOptions): Promise<SessionList>
  /** Gives the session new owners. Filters still find it under its earlier owners. */
  reuse(sessionId: string, owners: ReuseSessionRequest, options?: CallOptions): Promise<Session>
  /** Removes an earlier owner from `shared_with`. A removed user can no longer read the session. */
  unshare(
    sessionId: string,
    kind: 'user' | 'agent' | 'team' | 'workflow',
    ownerId: string,
    options?: CallOptions,
  ): Promise<void>
  /**
   * Deletes sessions that have not changed since `updated_before`, except those with an active run. The server stops after
   * some seconds; if `has_more` is set, repeat the call.
   */
  prune(request: PruneSessionsRequest, options?: CallOptions): Promise<SessionsPruned>
  /**
   * Messages that contain all words of the query, newest first. `open*` matches words with that beginning. A page may have
   * fewer than `limit` messages although more pages follow.
   */
  search(query: string, filter?: MessageFilter, options?: PageOptions): Promise<MessageHitList>
  /**
   * The latest `interactions` (1–1000, default 50), oldest first; with `before` those that led to that turn. `replaced` includes
   * turns that other runs have replaced.
   */
  history(
    sessionId: string,
    options?: CallOptions & {
      interactions?: number | undefined
      before?: string | undefined
      events?: boolean | undefined
      replaced?: boolean | undefined
    },
  ): Promise<History>
  /** A file of the session's messages, by the `file_id` of its part. */
  file(sessionId: string, fileId: string, options?: CallOptions): Promise<SessionFile>
  /** Newest first. */
  runs(
    sessionId: string,
    filter?: {
      status?: RunStatus | undefined
      agent_id?: string | undefined
      again?: boolean | undefined
      /** Include the files of the messages of each run. */
      files?: boolean | undefined
    },
    options?: PageOptions,
  ): Promise<SessionRunList>
  /** The session as a test for `agentserve test`. Throws `invalid_request` for one that can't be played. */
  test(sessionId: string, options?: CallOptions): Promise<SavedTest>
  summary: SummaryClient
}

export interface SummaryClient {
  /** The latest summary. Throws `summary_not_found` if there is none yet. */
  get(sessionId: string, options?: CallOptions): Promise<Summary>
  /** Generates a summary and waits for it. */
  generate(sessionId: string, options?: CallOptions): Promise<Summary>
  /** Generates a summary in the background. */
  schedule(sessionId: string, options?: CallOptions): Promise<SummaryScheduled>
}

/** Without what a page has no use for. */
export type PageSessionsClient = Omit<
  SessionsClient,
  | keyof SessionCopiesClient
  | 'create'
  | 'getTagged'
  | 'update'
  | 'reuse'
  | 'unshare'
  | 'prune'
  | 'test'
  | 'summary'
  | 'file'
> &
  PageSessionCopiesClient & {
    file(sessionId: string, fileId: string, options?: CallOptions): Promise<Pick<SessionFile, 'bytes'>>
    update(sessionId: string, change: UpdateSessionRequest, options?: CallOptions): Promise<Session>
  }

export function createPageSessionsClient(connection: Connection, prefix: string): PageSessionsClient {
  const path = pathsOf(prefix)
  return {
    get: (sessionId, options) => connection.get(path(sessionId), options),
    update: (sessionId, change, options) =>
      connection.json({ ...options, method: 'PUT', path: path(sessionId), body: change, repeat: 'safe' }),
    delete: (sessionId, options) => connection.delete(path(sessionId), options),
    list: (filter?: SessionListFilter, options?: PageOptions) =>
      connection.list<SessionList & SessionHeadList>(`${prefix}/sessions`, filter, options),
    ...createSessionCopiesClient(connection, prefix),
    search: (query, filter, options) => connection.list(`${prefix}/messages`, { ...filter, q: query }, options),
    history: (sessionId, { interactions, before, events, replaced, ...options } = {}) =>
      connection.get(path(sessionId, '/history'), options, {
        num_messages: interactions,
        before,
        stream_events: events,
        replaced,
      }),
    runs: (sessionId, filter, options) => connection.list(path(sessionId, '/runs'), filter, options),
    file: (sessionId, fileId, options) => readFile(connection, path(sessionId), fileId, options),
  }
}

export function createSessionsClient(connection: Connection, prefix: string): SessionsClient {
  const path = pathsOf(prefix)
  const page = createPageSessionsClient(connection, prefix)
  return {
    ...page,
    import: (lines, options) =>
      page.import(typeof lines === 'string' ? new TextEncoder().encode(lines) : lines, options),
    create: (session = {}, options) => connection.post(`${prefix}/sessions`, session, 'keyed', options),
    async getTagged(sessionId, options) {
      const call = { ...options, method: 'GET', path: path(sessionId), repeat: 'safe' } as const
      const { text, headers } = await connection.whole(call)
      return { session: parse(text(), connection.name), etag: headers.etag }
    },
    update: (sessionId, change, { ifMatch, ...options } = {}) =>
      connection.json({
        ...options,
        method: 'PUT',
        path: path(sessionId),
        body: change,
        headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
        // A retry would find the ETag changed by the first attempt.
        repeat: ifMatch === undefined ? 'safe' : 'never',
      }),
    reuse: (sessionId, owners, options) => connection.post(path(sessionId, '/reuse'), owners, 'safe', options),
    unshare: async (sessionId, kind, ownerId, options) => {
      const place = path(sessionId, `/shared/${kind}/${encodeURIComponent(ownerId)}`)
      await connection.whole({ ...options, method: 'DELETE', path: place, repeat: 'never' })
    },
    async file(sessionId, fileId, options) {
      const { bytes, headers } = await readFile(connection, path(sessionId), fileId, options)
      const media_type = headers['content-type'] ?? 'application/octet-stream'
      return { bytes, media_type, name: fileName(headers['content-disposition'] ?? '') }
    },
    prune: (request, options) => connection.post(`${prefix}/sessions/prune`, request, 'safe', options),
    test: (sessionId, options) => connection.get(path(sessionId, '/test'), options),
    summary: createSummaryClient(connection, path),
  }
}

function readFile(connection: Connection, path: string, fileId: string, options: CallOptions | undefined) {
  return connection.whole({
    ...options,
    method: 'GET',
    path: `${path}/files/${encodeURIComponent(fileId)}`,
    headers: { accept: '*/*' },
    repeat: 'safe',
  })
}

function pathsOf(prefix: string) {
  return (sessionId: string, rest = '') => `${prefix}/sessions/${encodeURIComponent(sessionId)}${rest}`
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

/** Of a `Content-Disposition` (RFC 6266). */
function fileName(disposition: string): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition) ?? []
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded)
  } catch {
    // The plain name is there too.
  }
  return /filename="([^"]*)"/i.exec(disposition)?.[1]
}
