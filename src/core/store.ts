import type { AuditStore } from './access/audit.ts'
import type { StoreCluster } from './cluster/cluster.ts'
import type { RunEvent } from './event.ts'
import type { FileStore } from './file.ts'
import type { Json, JsonObject } from './json.ts'
import type { FactStore } from './memory/fact.ts'
import type { Page, PageRequest } from './page.ts'
import type { PushStore } from './push.ts'
import type { Run, RunHead, RunRecord, RunStatus } from './run.ts'
import type {
  Claim,
  ClaimRecord,
  EventsAppended,
  KeptTry,
  RunBatch,
  RunBegun,
  RunEnd,
  RunFinished,
  RunResume,
  RunResumed,
  RunStart,
  RunStarted,
  TryKept,
  TurnRestored,
} from './run-write.ts'
import type {
  Handover,
  OwnerKind,
  Session,
  SessionChange,
  SessionCopy,
  SessionHead,
  SessionOverview,
  SessionOwners,
  SessionRecord,
  SessionSeed,
} from './session.ts'
import type { Summary } from './summary.ts'
import type { MessageHit, MessageSearch } from './text/message-search.ts'
import type { ScheduleStore } from './triggers/schedule.ts'
import type { WebhookStore } from './triggers/webhook.ts'

/*
 * The port of everything durable about sessions and runs. A resolved promise means that a write survives a power cut
 * (unless the driver keeps nothing at all). The driver enforces these rules, in whatever order it is called:
 *  - a final status never changes; a write under an old fence changes nothing;
 *  - a session has at most one run in `running`. Runs that are no turns (core/run.ts, `isTurn`) don't count: they are in no
 *    history, in no search and in no session's `runs` and `run_count`, and are deleted with the session;
 *  - a try (`isTry`) changes nothing of its session: no state, no `updated_at`, no revision. It can't create one;
 *  - only the start of a run may create a session; the end of a run without a row writes nothing;
 *  - one read gives at most 32 MB, or a single run or session that is larger.
 * Drivers throw AppError: `conflict`, `session_not_found`, `precondition_failed`, `storage_full`, `unavailable`.
 */

export interface SessionFilter {
  agent_id?: string | undefined
  team_id?: string | undefined
  workflow_id?: string | undefined
  user_id?: string | undefined
}

export interface SessionListFilter extends SessionFilter {
  updated_before?: string | undefined
  /** The status of the last turn of the conversation. */
  status?: RunStatus | undefined
  /** Sessions as `user_id` may read them: an earlier user finds and sees what they were at the handover. */
  as_user?: boolean | undefined
}

export interface RunFilter {
  status?: RunStatus | undefined
  /** An entity of any kind. */
  agent_id?: string | undefined
  session_id?: string | undefined
  user_id?: string | undefined
  parent_run_id?: string | undefined
  /** Also tries. Without it only those are found whose `parent_run_id` is given. */
  again?: boolean | undefined
  /** Only runs stored before this one. */
  before?: string | undefined
}

/** Which turns a history has. Default: those of the present conversation. */
export interface HistoryView {
  /** The conversation that led to this turn, without it. */
  before?: string | undefined
  /** The same with the turn. */
  upTo?: string | undefined
  /** All turns in stored order, replaced ones too; with `before`, those stored before that run. */
  replaced?: boolean | undefined
}

export interface History {
  /** Oldest first, with input and output. Fewer than asked for when they are large, but at least one. */
  runs: RunRecord[]
  has_more: boolean
}

/** The run that answered a request; `key` identifies the request. */
export interface CachedAnswer {
  key: string
  run_id: string
  expires_at: string
}

/** Which sessions to delete; both rules may be given. */
export interface PruneRule {
  /** Sessions that have not changed since. */
  olderThan?: string | undefined
  /** Keeps the newest. */
  maxSessions?: number | undefined
  /** Narrows `olderThan`. */
  filter?: SessionFilter | undefined
  /** Narrows `olderThan` to sessions that belong to this user now. */
  presentUser?: string | undefined
}

export interface Recovered {
  /** Runs whose process died. They are `interrupted` now, with `truncated` and their end event set. */
  interrupted: Run[]
  /** Background runs that still wait, oldest first. */
  queued: { run: RunRecord; fence: number; unchecked?: boolean }[]
}

/** What a driver counts of the writes of runs since it was opened. */
export interface WriteNumbers {
  commits: number
  writes: number
  /** Time until the commits were confirmed, altogether. */
  commitMs: number
}

/** What a run needs of its session before it begins. */
export type SessionBasis = Pick<Session, 'state' | 'user_id'>

export interface SessionStore extends FileStore, PushStore, FactStore, ScheduleStore, WebhookStore, AuditStore {
  /** The driver's name: `memory`, `sqlite`. */
  readonly name: string
  /** Absent: this process is the only one that writes to the store. */
  readonly cluster?: StoreCluster | undefined
  open(): Promise<void>
  /** Waits for accepted writes. Afterwards every call throws `unavailable`. */
  close(): Promise<void>
  /** Throws when it could not write now. */
  check(): Promise<void>
  /** Absent: the driver does not count. */
  numbers?(): WriteNumbers

  /** The same commit stores the record as the claim's answer. A taken claim comes back, and nothing is written. A taken id is `conflict`. */
  createSession(seed: SessionSeed, claim?: Claim): Promise<SessionRecord | { claimed: ClaimRecord }>
  findSession(sessionId: string): Promise<SessionRecord | undefined>
  /** Throws `precondition_failed` when `revision` is given and is not the present one. */
  updateSession(sessionId: string, change: SessionChange, at: string, revision?: number): Promise<SessionRecord>
  /**
   * Sets these owners. The earlier ones go to `shared_with`; an earlier user may read up to the newest turn. Another
   * user: the same commit deletes the push configs of the runs that may go on.
   */
  shareSession(sessionId: string, owners: Partial<SessionOwners>, at: string): Promise<SessionRecord>
  /** Takes an owner out of `shared_with`; false when it is not there. */
  unshareSession(sessionId: string, kind: OwnerKind, ownerId: string, at: string): Promise<boolean>
  /** What an earlier user may read, with some of the newest runs; undefined when this is no earlier user. */
  findHandover(sessionId: string, userId: string, newestRuns: number): Promise<Handover | undefined>
  /** By earlier user, the last ended turn that the user may read; null: none. */
  listHandovers(sessionId: string): Promise<Record<string, string | null>>
  /** Whether the run was stored before another run of the same session. */
  isBefore(runId: string, otherId: string): Promise<boolean>
  /**
   * With all its runs, messages, events and summary; false when there was none. No reader sees it from then on. The rows of
   * a large session are deleted in steps, by the next process if need be.
   */
  deleteSession(sessionId: string): Promise<boolean>
  /**
   * Only these fields. A driver may leave this out: `findSession` is used then. `reader`, here and below: the run that reads. It
   * may be told what the session had when the run started, with what this process has written since.
   */
  readBasis?(sessionId: string, reader?: string): Promise<SessionBasis | undefined>
  /**
   * Newest `updated_at` first, with the newest 10 runs. Finds sessions of present and earlier owners. A page may have fewer
   * than `limit` before the last page. The items
   * are whole sessions, also with `as_user`.
   */
  listSessions(filter: SessionListFilter, page: PageRequest): Promise<Page<Session>>
  /** The same sessions in the same order. */
  listOverviews(filter: SessionListFilter, page: PageRequest): Promise<Page<SessionOverview>>
  /** As this user may read it; undefined when the user neither has the session nor had it earlier. */
  findOverview(sessionId: string, userId?: string): Promise<SessionOverview | undefined>
  /** How many sessions a list with this filter has. */
  countSessions(filter: SessionListFilter): Promise<number>
  /**
   * Deletes up to `limit` sessions (fewer when they are large), the longest unchanged first, except those with a run in
   * `running` or `queued`. Gives the number; 0 when no more are due.
   */
  prune(rule: PruneRule, limit: number): Promise<number>
  /**
   * Deletes up to `limit` tries that ended before this time, with their child runs, in short commits. Gives the number of
   * deleted runs; 0 when no more are due.
   */
  deleteTries(before: string, limit: number): Promise<number>

  /**
   * One step of erasing a user outside the user's own sessions: ended runs of the user lose their messages, those sessions
   * their summaries, and cached answers go; the name leaves `shared_with`; the user's facts go; idempotency keys and their
   * answers go, also those of the user's own sessions. At most `limit` of each. Gives how many there were.
   */
  eraseUser(userId: string, limit: number): Promise<number>

  /**
   * Restores a session from a copy, in short steps. No reader sees it before it is complete, and a failure leaves nothing.
   * Only ended runs. `head` is asked after the last run; default: the copy's own. Throws `conflict` when the session or a
   * run exists, and whatever `copy.runs` throws. `instead`: an ended try, whose copy is the last turn. The commit by which the
   * session can be read deletes it with its child runs, and gives the session the state that it left, if it changed any.
   * Throws `conflict` when it has been kept or deleted meanwhile.
   */
  restoreSession(copy: SessionCopy, head?: () => SessionHead, instead?: string): Promise<SessionRecord>
  /** All runs of a session, child runs too, in stored order from after one of them. Fewer than `limit` when large; none at the end. */
  readRecords(sessionId: string, after: string | undefined, limit: number): Promise<RunRecord[]>

  /** A run without `user_id` gets that of its session. */
  startRun(start: RunStart): Promise<RunStarted>
  /** `queued` → `running`. */
  beginRun(runId: string, fence: number, at: string): Promise<RunBegun>
  appendEvents(batch: RunBatch): Promise<EventsAppended>
  finishRun(end: RunEnd): Promise<RunFinished>
  /**
   * A paused run (`isResumable`) → `running`, under a new fence. Removes what its end wrote: end event, output messages,
   * sources, usage. Its events and `truncated` stay.
   */
  resumeRun(resume: RunResume): Promise<RunResumed>
  findRun(runId: string): Promise<RunRecord | undefined>
  /** A driver may leave this out: `findRun` is used then. */
  findRunHead?(runId: string): Promise<RunHead | undefined>
  /** Newest first, in stored order. */
  listRuns(filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /**
   * Recorded events with `seq > after`, in order, with the start and end events (core/event.ts). At most `limit`, fewer when
   * they are large, none at the end. With `types` the driver may leave out all others.
   */
  readEvents(runId: string, after: number, limit: number, types?: readonly RunEvent['type'][]): Promise<RunEvent[]>
  /** The newest `limit` turns of a session. Costs the same for a long session. */
  readHistory(sessionId: string, limit: number, view?: HistoryView, reader?: string): Promise<History>
  /**
   * The session's state before a turn: from before the first change by the turn or one after it. Where no change is recorded,
   * also for imported turns, it is the state that they left. Undefined when there is no such turn.
   */
  findStateBefore(runId: string): Promise<JsonObject | null | undefined>
  /**
   * The session's state as a turn left it: from before the first change by a turn after it. Where no change is recorded it is the
   * state now, or when the turn was replaced. Undefined when there is no such turn. A driver may leave this out: the state now is used.
   */
  findStateAfter?(runId: string): Promise<JsonObject | null | undefined>
  /**
   * Makes a replaced turn part of the conversation again: the turns before it, and those after it that were replaced by the
   * same run. They replace the other turns of the conversation, and the session gets the state in which they left it.
   */
  restoreTurn(runId: string, at: string): Promise<TurnRestored>
  /**
   * One commit: the try becomes a turn, stored after all others, and takes the place of `turn` and of all later ones. The
   * session gets the state in which it left the conversation. Its child runs are those of a turn from then on.
   */
  keepTry(kept: KeptTry): Promise<TryKept>
  /**
   * Newest first; finds nothing that was deleted. A page may have fewer than `limit` before the last page. The search brings
   * its index up to date itself and is `unavailable` while that takes long: writes cost nothing more.
   */
  searchMessages(search: MessageSearch, page: PageRequest): Promise<Page<MessageHit>>

  /** Replaces the key's answer. It is deleted with its run; without a run nothing is stored. */
  cacheAnswer(answer: CachedAnswer): Promise<void>
  /** The run that answered, when it is `completed` and the answer has not expired. */
  findCached(key: string): Promise<RunRecord | undefined>

  /** `last`: the last turn that it covers. False: that turn has been replaced, and nothing was written. */
  saveSummary(summary: Summary, last?: string): Promise<boolean>
  findSummary(sessionId: string, reader?: string): Promise<Summary | undefined>
  /** A job lasts until it is dropped or a summary is saved. Scheduling it again keeps its place and resets its attempts. */
  scheduleSummary(sessionId: string, at: string): Promise<void>
  /** Counts an attempt before it begins. Gives the number of attempts, this one included; 0 when there is no job. */
  beginSummaryJob(sessionId: string): Promise<number>
  dropSummaryJob(sessionId: string): Promise<void>
  /** Oldest first. */
  listSummaryJobs(): Promise<string[]>

  /** Undefined: the key is now the caller's, with this answer if it is known already. */
  claim(claim: Claim, answer?: Json): Promise<ClaimRecord | undefined>
  completeClaim(key: string, answer: Json): Promise<void>
  /** Call after work that failed before it stored anything: the next request with this key starts over. */
  releaseClaim(key: string): Promise<void>
  findClaim(key: string): Promise<ClaimRecord | undefined>

  /**
   * Called once after `open`, by `owner`. Runs that an earlier process left in `running`, and its foreground runs in
   * `queued`, become `interrupted`, and their unchecked messages are refused. Unfinished claims are released, and expired
   * claims, answers and files without a run deleted. With a `cluster`, instances that are alive keep theirs.
   */
  recover(owner: string, at: string): Promise<Recovered>
}
