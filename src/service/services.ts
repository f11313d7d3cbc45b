import type { SourcedConfig } from '../core/entity/config.ts'
import type { RunEvent } from '../core/event.ts'
import type { RunTrace, TraceRequest } from '../core/events/trace.ts'
import type { StoredFile } from '../core/file.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Knowledge } from '../core/knowledge/knowledge.ts'
import type { Logger } from '../core/logger.ts'
import type { Fact } from '../core/memory/fact.ts'
import type { GivenPart, Role } from '../core/message.ts'
import type { Page, PageRequest } from '../core/page.ts'
import type { AgainOf, CallAnswer, Cost, EntityKind, Run, RunGiven, RunHead, RunRecord, Usage } from '../core/run.ts'
import type { EntityInfo, Runnable } from '../core/runnable.ts'
import type {
  CopiedFile,
  OwnerKind,
  RunPiece,
  Session,
  SessionChange,
  SessionCopy,
  SessionHead,
  SessionOverview,
  SessionOwners,
  SessionRecord,
} from '../core/session.ts'
import type { History, HistoryView, RunFilter, SessionFilter, SessionListFilter } from '../core/store.ts'
import type { Summary } from '../core/summary.ts'
import type { MarkedHit, MessageSearch } from '../core/text/message-search.ts'
import type { AgainRequest, KeptAs, StartedRun } from './again/request.ts'
import type { Act, Audit } from './audit/audit.ts'
import type { Notifications } from './notifications/notifications.ts'
import type { Repeats } from './repeating/context.ts'
import type { Schedules } from './schedules/schedules.ts'

/** What the server offers to api and protocols. Every error is an AppError. */

export interface Registry {
  /** Throws for an empty or taken id, and for an entity that is not runnable. */
  register(id: string, entity: Runnable): void
  /** Replaces all entities at once. Runs that have started keep theirs. `file`: the config that lists them. */
  replace(entities: ReadonlyMap<string, Runnable>, file?: string): void
  find(id: string): Runnable | undefined
  /** Throws `agent_not_found`. */
  get(id: string): Runnable
  /** `get` over the present entities; a later `replace` does not change it. */
  current(): (id: string) => Runnable
  info(id: string): EntityInfo
  /** How it is configured. Throws `agent_not_found`. */
  config(id: string): Promise<SourcedConfig>
  list(kind?: EntityKind): EntityInfo[]
  ids(): string[]
}

export type MultitaskStrategy = 'enqueue' | 'reject' | 'interrupt'
export type OnDisconnect = 'cancel' | 'continue'

/** A request that may be retried. `key` includes caller and route; `hash` is that of the body. */
export interface Idempotency {
  key: string
  hash: string
  /** What a retry gets while the first request is in progress: `conflict` (409), or its run (`join`, for A2A's messageId). */
  whileRunning: 'conflict' | 'join'
  /**
   * For clients that send no key of their own, and say instead which try a request is: `key` is made of the request. A `first` one
   * takes the key over from an earlier request that was the same; an `again` joins the first one's run while it works, gets its
   * answer when it completed or paused within the last 10 minutes, and starts anew otherwise. Both count as `join`.
   */
  attempt?: 'first' | 'again' | undefined
  /** How long the key is remembered. Default: 24 hours. */
  keptMs?: number | undefined
  /** For a streamed body: resolves with its hash after reading what is left of it. */
  bodyHash?: (() => Promise<string>) | undefined
}

/** As `RunGiven`, with files on their way in. */
export interface StartGiven extends Omit<RunGiven, 'history'> {
  history?: { role: Role; parts: GivenPart[] }[] | undefined
}

export interface StartRun {
  entityId: string
  parts: GivenPart[]
  /** Id of the input message, if the caller gave one. */
  messageId?: string | undefined
  /** Absent: a new session. */
  sessionId?: string | undefined
  /** For a `sessionId` that does not exist: REST answers 404, A2A creates the session. */
  unknownSession: 'refuse' | 'create'
  userId?: string | undefined
  metadata?: JsonObject | undefined
  state?: JsonObject | undefined
  /** Client tools, history, instructions and output schema of the caller. */
  given?: StartGiven | undefined
  /** The caller's key belongs to a user. */
  keyHasUser?: boolean | undefined
  /** A turn of the session: this run takes its place and that of all later ones. */
  replaces?: string | undefined
  /** It repeats another run. */
  againOf?: AgainOf | undefined
  repeats?: Repeats | undefined
  strategy?: MultitaskStrategy | undefined
  /** `plain` waits for the end, `stream` reads events, `background` outlives the request. RequestTimeout binds the first two. */
  mode: 'plain' | 'stream' | 'background'
  /** Default: `cancel`. Background runs always continue. */
  onDisconnect?: OnDisconnect | undefined
  /** Aborts when the client disconnects. */
  signal?: AbortSignal | undefined
  idempotency?: Idempotency | undefined
}

/** The answer that resumes a paused run, and how the run is followed (see `StartRun`). */
export interface ResumeAnswer extends Pick<StartRun, 'mode' | 'onDisconnect' | 'signal'> {
  /** One decision for all open requests, or one per `call_id`. */
  approved?: boolean | Record<string, boolean> | undefined
  input?: Json | undefined
  /** One answer per `call_id`. */
  answers?: Record<string, CallAnswer> | undefined
}

export interface RunHandle {
  readonly runId: string
  readonly sessionId: string
  /** The request is a retry: this is the run of the first one. */
  readonly replayed: boolean
  /** The parts of `given` that this run does not use. */
  readonly ignored?: readonly string[] | undefined
  /**
   * The run's events with `seq > after`, in batches, live until its end. The first batch comes when the start is durable,
   * the last one when the end is. A reader that leaves has no effect except by `onDisconnect`.
   */
  events(after?: number): AsyncIterable<readonly RunEvent[]>
  /** Resolves when the end or pause of the run is durable, whatever its status. */
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
  /** The same without messages, sources and metadata. */
  head(runId: string): Promise<RunHead>
  list(filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /** Resolves when the cancellation is recorded. Throws `conflict` for a final run. */
  cancel(runId: string, reason?: string): Promise<RunRecord>
  /**
   * Makes a replaced turn part of the conversation again (`SessionStore.restoreTurn`). Throws `run_not_found`, and `conflict`
   * when it is part of it, or when a run of the session is under way or waits.
   */
  restore(runId: string): Promise<RunRecord>
  /**
   * Resolves when the resumption is durable. Throws `conflict` unless the run is `input_required` or an interrupted workflow,
   * and while its session has another active run; `invalid_request` for an incomplete answer.
   */
  resume(runId: string, answer: ResumeAnswer): Promise<RunHandle>
  /** Throws `run_not_found` at once, not while iterating. Prompts come as recorded: see `withPrompts`. */
  events(runId: string, after: number, signal?: AbortSignal): Promise<AsyncIterable<readonly RunEvent[]>>
  /** The same as far as they are recorded, also of a run that is under way: nothing is waited for. */
  recordedEvents(runId: string, signal?: AbortSignal): Promise<AsyncIterable<readonly RunEvent[]>>
  /** The same events with the full prompts of the model calls. */
  withPrompts(runId: string, events: AsyncIterable<readonly RunEvent[]>): AsyncIterable<readonly RunEvent[]>
  /** The recorded prompt and output of each model call. Throws `run_not_found`, `call_not_found`. */
  trace(runId: string, page: TraceRequest): Promise<RunTrace>
}

export interface CreateSession extends Partial<SessionOwners> {
  session_id?: string | undefined
  name?: string | null | undefined
  metadata?: JsonObject | null | undefined
  state?: JsonObject | null | undefined
}

export interface SessionHistory extends History {
  summary: Summary | null
  /** The events of one of these runs, page by page. Present when they were asked for. With `types` others may be left out. */
  events?: (runId: string, types?: readonly RunEvent['type'][]) => AsyncIterable<RunEvent[]>
}

export type MessageFilter = Omit<MessageSearch, 'words'>

/** The part of a session that a former user may still read. */
export interface PartOfSession {
  session: Session
  /** The last run of that part; null: none. */
  last: string | null
}

/** The pieces of an exported session, in order: the session, then each run followed by its events. */
export type SessionPiece = SessionHead | RunPiece

export interface ImportSession {
  /** Gives new ids to the session, its runs and messages. */
  newIds?: boolean | undefined
  /** The user who gets the session; absent: as in the copy. */
  userId?: string | undefined
}

export interface ForkSession {
  /** The last run to copy; absent: the latest. */
  runId?: string | undefined
  /** Instead of `runId`: a turn. Copies those before it, with the state from before it. */
  beforeRunId?: string | undefined
  /** Id of the new session. */
  sessionId?: string | undefined
  /** The user who gets the fork; absent: as the original. */
  userId?: string | undefined
  /** With `beforeRunId`: an ended try of that turn, which becomes the last turn of the fork and is no try any more. */
  andTry?: RunRecord | undefined
}

export interface PruneSessions {
  /** Sessions that have not changed since. */
  olderThan: string
  filter: SessionFilter
  /** Only sessions whose present user this is. */
  presentUser?: string | undefined
}

export interface SessionFile {
  file: StoredFile
  /** Fails when the file is deleted meanwhile. */
  content: AsyncIterable<Uint8Array>
}

export interface Sessions {
  create(seed: CreateSession, idempotency?: Idempotency): Promise<SessionRecord>
  get(sessionId: string): Promise<SessionRecord>
  update(sessionId: string, change: SessionChange, revision?: number): Promise<SessionRecord>
  /** First cancels the session's runs (`session_deleted`). */
  delete(sessionId: string): Promise<void>
  list(filter: SessionListFilter, page: PageRequest): Promise<Page<Session>>
  /** The same list with what it shows of each session. */
  heads(filter: SessionListFilter, page: PageRequest): Promise<Page<SessionOverview>>
  /** How many sessions the list has. */
  count(filter: SessionListFilter): Promise<number>
  reuse(sessionId: string, owners: Partial<SessionOwners>): Promise<SessionRecord>
  /** Removes a name from `shared_with`. Throws `session_not_found`, `owner_not_found`. */
  unshare(sessionId: string, kind: OwnerKind, ownerId: string): Promise<void>
  /**
   * A new session with copies of the runs up to `runId`, and `forked_from` in its metadata. Throws `run_not_found` for a run of
   * another session, `conflict` for an active run and for a taken id.
   */
  fork(sessionId: string, fork: ForkSession): Promise<SessionRecord>
  /** Throws `session_not_found` at once. Leaves out active runs, and with `part` everything outside it. */
  export(sessionId: string, withEvents: boolean, part?: PartOfSession): Promise<AsyncIterable<SessionPiece>>
  /** Imports all or nothing. Throws `conflict` for a taken id, and whatever `copy.runs` throws. */
  import(copy: SessionCopy, options: ImportSession): Promise<SessionRecord>
  /** Deletes for a few seconds, never a session with an active run. `has_more`: call it again. */
  prune(rule: PruneSessions): Promise<{ deleted: number; has_more: boolean }>
  /** A file that a run of the session brought or made. Throws `session_not_found`, `file_not_found`. */
  file(sessionId: string, fileId: string): Promise<SessionFile>
  /** Messages that contain all words of the query, newest first; `open*` matches a prefix. Throws `invalid_request` without a word. */
  search(query: string, filter: MessageFilter, page: PageRequest): Promise<Page<MarkedHit>>
  /** The latest `interactions` (1–1000) of the conversation, or of another view. Throws `run_not_found` for a `before` that is no turn. */
  history(sessionId: string, interactions: number, withEvents: boolean, view?: HistoryView): Promise<SessionHistory>
  /** Its state, which costs less than `get`: now, or from `before` a turn or `after` it. Throws `session_not_found`. */
  state(sessionId: string, at?: { before?: string; after?: string }): Promise<JsonObject | null>
  /** The newest run of the session that is queued or running, without child runs. */
  active(sessionId: string): Promise<RunHead | undefined>
}

/** The pieces of a user's export, in order; the last one has the counts. */
export type UserPiece =
  | { user_id: string; exported_at: string }
  | { session: AsyncIterable<SessionPiece> }
  /** Id of another user's session that names this user in `shared_with`. */
  | { shared: string }
  /** A run in another user's session; its events follow. */
  | { run: RunRecord }
  | { run_id: string; events: RunEvent[] }
  | { run_id: string; file: CopiedFile }
  | { facts: readonly Fact[] }
  | { sessions: number; runs: number; facts: number }

export interface Users {
  /** Everything that `erase` would delete. */
  export(userId: string): AsyncIterable<UserPiece>
  /**
   * Deletes the sessions whose present user this is. Runs of the user in other sessions are cancelled and lose their content, and
   * the name leaves `shared_with`. The user's facts go. Includes what is created meanwhile. May be repeated.
   */
  erase(userId: string): Promise<void>
}

/** What is remembered about users, across sessions. */
export interface Facts {
  /** Oldest first. Empty for a user that is not known. */
  list(userId: string): Promise<Fact[]>
  /** Throws `fact_not_found`. */
  delete(userId: string, factId: string): Promise<void>
  /** Gives how many there were. */
  deleteAll(userId: string): Promise<number>
}

export interface Summaries {
  /** The latest. Throws `session_not_found`, `summary_not_found`. */
  get(sessionId: string): Promise<Summary>
  /** Returns when the job is durable. Throws `summary_not_configured`. */
  schedule(sessionId: string): Promise<void>
  /** Joins a job that is already running. Throws `summary_not_configured`, `summary_failed`, `timeout`. */
  generate(sessionId: string): Promise<Summary>
}

/** What runs, sessions and calls cost at the prices that are known now; null: not known. Never stored. */
export interface Costs {
  ofRun(run: Pick<Run, 'usage_by_model' | 'created_at' | 'started_at' | 'completed_at'>): Cost | null
  ofSession(session: Pick<SessionOverview, 'usage_by_model' | 'forked_from' | 'created_at' | 'updated_at'>): Cost | null
  /** Another object when the prices have changed. */
  readonly prices: object
  /** `at`: when it ended. */
  ofCall(call: { model?: string; usage: Usage | null; at: string }): Cost | null
}

/**
 * Small values that protocols find again within 24 hours, on every instance. They outlive the sessions that they name. Erasing
 * a user deletes those whose key has the user's id between spaces.
 */
export interface Bookmarks {
  /** False: the key has a value already, which stays. */
  add(key: string, value: Json): Promise<boolean>
  find(key: string): Promise<Json | undefined>
}

export interface Services {
  registry: Registry
  bookmarks: Bookmarks
  costs: Costs
  runs: Runs
  sessions: Sessions
  summaries: Summaries
  users: Users
  facts: Facts
  /** Starts runs that repeat a run. Throws `conflict` for one that has not ended or whose content is gone. */
  again(runId: string, request: AgainRequest): Promise<StartedRun[]>
  /**
   * Makes an ended try a turn: the last one of a new session, where it has another id, or in place of the turn that it tried
   * again. Nothing is run. Throws `run_not_found`, and `conflict` when that can't be (any more).
   */
  keep(runId: string, as: KeptAs): Promise<StartedRun>
  schedules: Schedules
  /** Absent unless push notifications are configured. */
  notifications?: Notifications | undefined
  /** Absent unless knowledge is configured. */
  knowledge?: Knowledge | undefined
  /**
   * An archive of all stored data, in pieces. Before the first piece it throws `conflict` (another backup is running, or
   * nothing is stored on disk) or `storage_full`.
   */
  backup(): AsyncIterable<Uint8Array>
  /** Does the work of a request once: retries get the first answer. */
  once<T extends Json>(idempotency: Idempotency | undefined, work: () => Promise<T>): Promise<T>
  /** Does work of no service, as an act of the audit log where there is one. */
  audited<T>(act: Act, work: () => Promise<T>): Promise<T>
  /** The same in pieces. */
  auditedStream<T>(act: Act, work: () => AsyncIterable<T>): AsyncIterable<T>
  /** The log of what was done. Absent when it is off. */
  audit?: Pick<Audit, 'list'> | undefined
  logger: Logger
}
