import type { RunEvent } from '../core/event.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Knowledge } from '../core/knowledge/knowledge.ts'
import type { Logger } from '../core/logger.ts'
import type { Part } from '../core/message.ts'
import type { Page, PageRequest } from '../core/page.ts'
import type { EntityKind, Run, RunHead, RunRecord } from '../core/run.ts'
import type { EntityInfo, Runnable } from '../core/runnable.ts'
import type {
  OwnerKind,
  RunPiece,
  Session,
  SessionChange,
  SessionCopy,
  SessionHead,
  SessionOwners,
  SessionRecord,
} from '../core/session.ts'
import type { History, MessageHit, MessageSearch, RunFilter, SessionFilter, SessionListFilter } from '../core/store.ts'
import type { Summary } from '../core/summary.ts'
import type { RunTrace } from '../core/trace.ts'

/*
 * What the server does, in words of the core: the doors through which api and protocols come in. Errors are AppErrors.
 */

export interface Registry {
  /** Throws on an empty or taken id, and on what is not runnable. */
  register(id: string, entity: Runnable): void
  /** Exchanges all entities at once; runs that have begun keep theirs. */
  replace(entities: ReadonlyMap<string, Runnable>): void
  find(id: string): Runnable | undefined
  /** Throws `agent_not_found`. */
  get(id: string): Runnable
  /** `get` among the entities of now, whatever `replace` brings later. */
  current(): (id: string) => Runnable
  info(id: string): EntityInfo
  list(kind?: EntityKind): EntityInfo[]
  ids(): string[]
}

export type MultitaskStrategy = 'enqueue' | 'reject' | 'interrupt'
export type OnDisconnect = 'cancel' | 'continue'

/** A request that may be repeated: the key holds caller and route, the hash the body. */
export interface Idempotency {
  key: string
  hash: string
  /** What happens while the first is still at work: `conflict` (409) or `join` its run (A2A's messageId). */
  whileRunning: 'conflict' | 'join'
  /** Of a body that the work reads as a stream: its hash, when all of it has been read; reads the rest if need be. */
  bodyHash?: (() => Promise<string>) | undefined
}

export interface StartRun {
  entityId: string
  parts: Part[]
  /** The id of the input message, when the caller gave one. */
  messageId?: string | undefined
  /** Absent: a new session. */
  sessionId?: string | undefined
  /** What to do about a `sessionId` that does not exist: REST says 404, A2A creates it. */
  unknownSession: 'refuse' | 'create'
  userId?: string | undefined
  metadata?: JsonObject | undefined
  state?: JsonObject | undefined
  strategy?: MultitaskStrategy | undefined
  /** `plain` waits for the end, `stream` reads events, `background` outlives the request. RequestTimeout binds the first two. */
  mode: 'plain' | 'stream' | 'background'
  /** Default: `cancel`; background runs go on. */
  onDisconnect?: OnDisconnect | undefined
  /** The client is gone. */
  signal?: AbortSignal | undefined
  idempotency?: Idempotency | undefined
}

/** What a paused run is given to go on with, and how it is followed: as `StartRun` says. */
export interface ResumeAnswer extends Pick<StartRun, 'mode' | 'onDisconnect' | 'signal'> {
  /** One decision for everything that waits, or one per `call_id`. */
  approved?: boolean | Record<string, boolean> | undefined
  input?: Json | undefined
}

export interface RunHandle {
  readonly runId: string
  readonly sessionId: string
  /** The request had been made before: this is the first one's run. */
  readonly replayed: boolean
  /**
   * The run's events with `seq > after`, in batches, live until its end. The first batch comes when the start is durable,
   * the last one when the end is. A reader that leaves changes nothing but what `onDisconnect` says.
   */
  events(after?: number): AsyncIterable<readonly RunEvent[]>
  /** When the run has ended or waits for input and that is durable; every outcome resolves, `timeout` included. */
  result(): Promise<RunRecord>
}

export interface Runs {
  /**
   * Plain and streamed runs: resolves once accepted (queued ones at once; the handle waits for durability). Background:
   * resolves when durable. Throws `agent_not_found`, `session_not_found`, `conflict`, `rate_limited` (queue full),
   * `idempotency_mismatch`, `run_interrupted`, `unavailable`.
   */
  start(options: StartRun): Promise<RunHandle>
  /** Live or recorded. Throws `run_not_found`. */
  get(runId: string): Promise<RunRecord>
  /** The same without what was said. */
  head(runId: string): Promise<RunHead>
  list(filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /** Resolves when the cancellation is recorded; a final run is `conflict`. */
  cancel(runId: string, reason?: string): Promise<RunRecord>
  /**
   * Resolves when it is durable that the run goes on. `conflict` unless it is `input_required`, or an interrupted workflow,
   * and while its session runs something else; `invalid_request` for an answer that leaves open what the run asked for.
   */
  resume(runId: string, answer: ResumeAnswer): Promise<RunHandle>
  /** Throws `run_not_found` at once, not while iterating. Prompts are as they are recorded: see `withPrompts`. */
  events(runId: string, after: number, signal?: AbortSignal): Promise<AsyncIterable<readonly RunEvent[]>>
  /** These events of the run, with the prompts of its model calls whole. */
  withPrompts(runId: string, events: AsyncIterable<readonly RunEvent[]>): AsyncIterable<readonly RunEvent[]>
  /** What each model call was told and gave, as far as it is recorded. Throws `run_not_found`. */
  trace(runId: string, page: PageRequest): Promise<RunTrace>
}

export interface CreateSession extends Partial<SessionOwners> {
  session_id?: string | undefined
  name?: string | null | undefined
  metadata?: JsonObject | null | undefined
  state?: JsonObject | null | undefined
}

export interface SessionHistory extends History {
  summary: Summary | null
  /** Of a run shown, when asked for: page by page, as they are asked for. */
  events?: (runId: string) => AsyncIterable<RunEvent[]>
}

export type MessageFilter = Omit<MessageSearch, 'words'>

/** A session as somebody sees who may not see all of it. */
export interface PartOfSession {
  session: Session
  /** The last turn of it; null: none. */
  last: string | null
}

/** What comes out one after the other when a session is exported: the session, then each run, followed by its events. */
export type SessionPiece = SessionHead | RunPiece

export interface ImportSession {
  /** The session, its runs and messages get other ids. */
  newIds?: boolean | undefined
  /** Whose it is from now on; absent: as the copy says. */
  userId?: string | undefined
}

export interface ForkSession {
  /** The last run to take over; absent: the latest. */
  runId?: string | undefined
  /** Of the new session. */
  sessionId?: string | undefined
  /** Whose it is; absent: as the original. */
  userId?: string | undefined
}

export interface PruneSessions {
  /** Those that have not changed since. */
  olderThan: string
  filter: SessionFilter
  /** Only sessions that are this user's now. */
  presentUser?: string | undefined
}

export interface Sessions {
  create(seed: CreateSession, idempotency?: Idempotency): Promise<SessionRecord>
  get(sessionId: string): Promise<SessionRecord>
  update(sessionId: string, change: SessionChange, revision?: number): Promise<SessionRecord>
  /** Cancels what runs in it first (`session_deleted`). */
  delete(sessionId: string): Promise<void>
  list(filter: SessionListFilter, page: PageRequest): Promise<Page<Session>>
  reuse(sessionId: string, owners: Partial<SessionOwners>): Promise<SessionRecord>
  /** Takes a name out of `shared_with`. Throws `session_not_found`, `owner_not_found`. */
  unshare(sessionId: string, kind: OwnerKind, ownerId: string): Promise<void>
  /**
   * A new session with the runs up to one, as they are, and `forked_from` in its metadata. `run_not_found` for a run of another
   * session, `conflict` for one that goes on and for a taken id.
   */
  fork(sessionId: string, fork: ForkSession): Promise<SessionRecord>
  /** Throws `session_not_found` at once. What has not ended is left out; `part` given: what is not in it, too. */
  export(sessionId: string, withEvents: boolean, part?: PartOfSession): Promise<AsyncIterable<SessionPiece>>
  /** All of it or nothing; `conflict` when an id is taken. What `copy.runs` throws ends it. */
  import(copy: SessionCopy, options: ImportSession): Promise<SessionRecord>
  /** Deletes for some seconds, never a session with work under way. `has_more`: ask again. */
  prune(rule: PruneSessions): Promise<{ deleted: number; has_more: boolean }>
  /** Messages with all the words, `open*` standing for those that begin so; the newest first. Throws `invalid_request` for no word. */
  search(query: string, filter: MessageFilter, page: PageRequest): Promise<Page<MessageHit>>
  /** `interactions` 1–1000; those before the run `before`, when it is given. */
  history(sessionId: string, interactions: number, withEvents: boolean, before?: string): Promise<SessionHistory>
}

/** What comes out one after the other when everything of a user is exported; the last one says how much there was. */
export type UserPiece =
  | { user_id: string; exported_at: string }
  | { session: AsyncIterable<SessionPiece> }
  /** A session of somebody else in which the user's name stands. */
  | { shared: string }
  /** In a session of somebody else; its events follow. */
  | { run: RunRecord }
  | { run_id: string; events: RunEvent[] }
  | { sessions: number; runs: number }

export interface Users {
  /** What `erase` would take. */
  export(userId: string): AsyncIterable<UserPiece>
  /**
   * Deletes the sessions whose present user it is. The user's runs in other sessions are cancelled and lose what was said, and
   * the name goes. What comes in meanwhile goes too. May be repeated.
   */
  erase(userId: string): Promise<void>
}

export interface Summaries {
  /** The latest. Throws `session_not_found`, `summary_not_found`. */
  get(sessionId: string): Promise<Summary>
  /** Returns when the job is durable. Throws `summary_not_configured`. */
  schedule(sessionId: string): Promise<void>
  /** Joins a job that is already under way. Throws `summary_not_configured`, `summary_failed`, `timeout`. */
  generate(sessionId: string): Promise<Summary>
}

export interface Services {
  registry: Registry
  runs: Runs
  sessions: Sessions
  summaries: Summaries
  users: Users
  /** Absent unless knowledge is configured. */
  knowledge?: Knowledge | undefined
  /**
   * An archive of everything that is kept, piece by piece. Throws before the first: `conflict` while another is being made or
   * when nothing is kept, `storage_full`.
   */
  backup(): AsyncIterable<Uint8Array>
  /** Does the work of a retried request once: the first answer is given again to every later one. */
  once<T extends Json>(idempotency: Idempotency | undefined, work: () => Promise<T>): Promise<T>
  logger: Logger
}
