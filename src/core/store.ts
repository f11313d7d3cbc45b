import type { RunEvent, SourceEvent } from './event.ts'
import type { Json, JsonObject } from './json.ts'
import type { Message, Role } from './message.ts'
import type { Page, PageRequest } from './page.ts'
import type { CancellationReason, Run, RunError, RunHead, RunRecord, RunStatus, Usage } from './run.ts'
import type {
  Handover,
  OwnerKind,
  Session,
  SessionChange,
  SessionCopy,
  SessionHead,
  SessionOwners,
  SessionRecord,
  SessionSeed,
} from './session.ts'
import type { Summary } from './summary.ts'
import type { SearchWord } from './text/message-search.ts'

/*
 * The port of everything durable about sessions and runs. A promise that resolves means: it survives a power cut (for
 * a driver that keeps anything at all). The rules are the driver's to enforce, whoever calls it in whatever order:
 *  - a final status never changes; a write under an old fence changes nothing;
 *  - one session has at most one run in `running`, not counting those with a `parent_run_id`, which belong to no turn: they
 *    are in no history, in no session's `runs` and `run_count`, and go with the session like all others;
 *  - only the start of a run may create a session on its way; the end of a run without its row writes nothing;
 *  - what one read gives is bounded by bytes, whatever was asked for: 32 MB, or a single run or session that has more.
 * Drivers throw AppError: `conflict`, `session_not_found`, `precondition_failed`, `storage_full`, `unavailable`.
 */

/** Makes a retried request find the first one. `key` carries the caller and the route; `hash` is over the body. */
export interface Claim {
  key: string
  hash: string
  /** Until when it is kept. */
  expires_at: string
}

/** What is remembered under a key: the run that it started, or the answer that it got, or neither while at work. */
export interface ClaimRecord {
  key: string
  hash: string
  run_id: string | null
  answer: Json | null
}

export interface RunStart {
  /** Status `running` or `queued`. */
  run: RunRecord
  /** The input; a member of `run.messages` too. */
  message: Message
  /** Given: created with the run when no session of that id exists; else one that does not exist is `session_missing`. */
  session: SessionSeed | null
  /** Merged over the session's state, key by key, when the run starts. */
  state: JsonObject | null
  claim: Claim | null
  /** Who runs it; with the fence, what later writes are checked against. */
  owner: string
  /** Nobody but the run may see the message until it is `checked`. */
  unchecked?: boolean | undefined
}

export type RunStarted =
  | { outcome: 'started' | 'queued'; fence: number; created_session: boolean }
  | { outcome: 'session_missing' }
  /** The session already has a run in `running`, and this one wanted to be another. */
  | { outcome: 'busy' }
  /** The key is taken: by a run, by an answer, or by something still at work. Nothing was written. */
  | { outcome: 'claimed'; claim: ClaimRecord }

/** Events to append, with numbers that were reserved; writing the same numbers again changes nothing. */
export interface RunBatch {
  run_id: string
  fence: number
  events: readonly RunEvent[]
  /** From here on numbers may have been used without being recorded; at least 1,000 beyond the last event. */
  reserve_until: number
  /** The message of the run may be seen. */
  checked?: boolean | undefined
}

/** Takes a paused run up again, in one step: whoever comes second finds that it has moved on. */
export interface RunResume {
  run_id: string
  /** The pause that is meant. */
  end_seq: number
  owner: string
  at: string
  /** With numbers after `end_seq`. */
  events: readonly RunEvent[]
  reserve_until: number
}

export type RunResumed =
  | { outcome: 'resumed'; fence: number }
  /** The session has a run in `running`. Nothing was written, as in the other cases. */
  | { outcome: 'busy' }
  /** It is not at this pause any more, or can't be resumed. */
  | { outcome: 'moved_on' }
  | { outcome: 'missing' }

export interface RunEnd {
  run_id: string
  /** Null: the run is paused and has no owner; it can only be cancelled so, and keeps the messages it has. */
  fence: number | null
  status: Exclude<RunStatus, 'queued' | 'running'>
  completed_at: string
  end_seq: number
  cancellation_reason: CancellationReason | null
  error: RunError | null
  cache_hit: boolean
  usage: Usage | null
  /** Events not appended yet. */
  events: readonly RunEvent[]
  /** What came out, partial output included. */
  messages: readonly Message[]
  sources: readonly SourceEvent[]
  /** Replaces the session's state when given. */
  state?: JsonObject | null
  /** The message of the run may be seen. */
  checked?: boolean | undefined
  /** Runs whose input was refused: in the same commit it goes from them and from those inside them (core/refusal.ts). */
  refused?: readonly string[] | undefined
}

export type RunFinished = 'ok' | 'already_final' | 'fenced' | 'missing'

export interface SessionFilter {
  agent_id?: string | undefined
  team_id?: string | undefined
  workflow_id?: string | undefined
  user_id?: string | undefined
}

export interface SessionListFilter extends SessionFilter {
  /** Those that have not changed since. */
  updated_before?: string | undefined
}

/** What to look for in the conversations, child runs left out. */
export interface MessageSearch extends SessionFilter {
  /** All of which a message must have; at least one. */
  words: readonly SearchWord[]
  session_id?: string | undefined
  /** Only what this user may read: all of the own sessions, of handed over ones what was said until then. */
  reader?: string | undefined
}

/** A message that was found. */
export interface MessageHit {
  session_id: string
  run_id: string
  message_id: string
  entity_id: string
  role: Role
  created_at: string
  /** What stands round the first of the words, on one line. */
  snippet: string
}

export interface RunFilter {
  status?: RunStatus | undefined
  /** An entity of any kind. */
  agent_id?: string | undefined
  session_id?: string | undefined
  user_id?: string | undefined
  parent_run_id?: string | undefined
  /** Only those that were put in before this run. */
  before?: string | undefined
}

export interface History {
  /** Oldest first; their `messages` hold input and output. Fewer than asked for when they are large, but at least one. */
  runs: RunRecord[]
  /** There are earlier ones. */
  has_more: boolean
}

/** Which run gave the answer to what a key stands for. */
export interface CachedAnswer {
  key: string
  run_id: string
  expires_at: string
}

/** Which sessions have had their time; both rules may be given. */
export interface PruneRule {
  /** Sessions that have not changed since. */
  olderThan?: string | undefined
  /** Those beyond the newest so many. */
  maxSessions?: number | undefined
  /** Of those that have not changed, only these. */
  filter?: SessionFilter | undefined
  /** Of those that have not changed, only the ones that are this user's now. */
  presentUser?: string | undefined
}

export interface Recovered {
  /** Runs whose process died; now `interrupted`, with `truncated` and their end event in place. */
  interrupted: Run[]
  /** Background runs still waiting, oldest first, as they were put in. */
  queued: { run: RunRecord; fence: number; unchecked?: boolean }[]
}

export interface SessionStore {
  /** The driver's name: `memory`, `sqlite`. */
  readonly name: string
  open(): Promise<void>
  /** Waits for what was accepted; afterwards every call throws `unavailable`. */
  close(): Promise<void>
  /** Throws when work would not be accepted. */
  check(): Promise<void>

  /**
   * With a claim: it is settled in the same commit, with the SessionRecord made as its answer; one that is taken comes back
   * and nothing is written. A taken `session_id` is `conflict`.
   */
  createSession(seed: SessionSeed, claim?: Claim): Promise<SessionRecord | { claimed: ClaimRecord }>
  findSession(sessionId: string): Promise<SessionRecord | undefined>
  /** `revision` given: `precondition_failed` unless it is still the present one. */
  updateSession(sessionId: string, change: SessionChange, at: string, revision?: number): Promise<SessionRecord>
  /**
   * The owners given become the present ones; the earlier ones go to `shared_with`, a user with the newest turn as the last
   * that may be read.
   */
  shareSession(sessionId: string, owners: Partial<SessionOwners>, at: string): Promise<SessionRecord>
  /** Takes a name out of `shared_with`; false when it is not there. */
  unshareSession(sessionId: string, kind: OwnerKind, ownerId: string, at: string): Promise<boolean>
  /** Of an earlier user of the session, with so many of the newest runs; undefined for who is none. */
  findHandover(sessionId: string, userId: string, newestRuns: number): Promise<Handover | undefined>
  /** The last turn that has ended and each earlier user may read; null: none. */
  listHandovers(sessionId: string): Promise<Record<string, string | null>>
  /** Whether the run was put in before the other, which is in the same session. */
  isBefore(runId: string, otherId: string): Promise<boolean>
  /**
   * With all its runs, messages, events and summary. Gone at once for every reader; of a large session the rows go in steps
   * afterwards, in a later process if need be. False when there was none.
   */
  deleteSession(sessionId: string): Promise<boolean>
  /** The state alone; null when there is none, or no session. Without it, who asks reads the whole session. */
  readState?(sessionId: string): Promise<JsonObject | null>
  /**
   * Newest `updated_at` first; finds a session under its present and its earlier owners. Runs: the newest 10. A page may have
   * fewer than `limit` and be followed by others.
   */
  listSessions(filter: SessionListFilter, page: PageRequest): Promise<Page<Session>>
  /**
   * Deletes at most `limit` sessions, fewer when they are large, the longest unchanged first; never one with a run in
   * `running` or `queued`. Tells how many: 0 when there is nothing more to delete.
   */
  prune(rule: PruneRule, limit: number): Promise<number>

  /**
   * One step of taking a user out of what is not the user's: runs of the user in sessions of others lose what was said, with
   * the summaries of these sessions and cached answers; the name leaves `shared_with`; idempotency keys and answers go,
   * those of the user's own sessions too. Runs that are not final stay as they are. At most `limit` of each; gives how much there
   * was to do.
   */
  eraseUser(userId: string, limit: number): Promise<number>

  /**
   * Makes a session of a copy, in steps that hold up nobody for long: nobody sees anything of it before it is whole, and when
   * that is not to be, nothing stays. `head`: asked for when all runs have come, what the copy began with otherwise. Only
   * ended runs. Throws `conflict` when the session or one of the runs is there already, and what `copy.runs` throws.
   */
  restoreSession(copy: SessionCopy, head?: () => SessionHead): Promise<SessionRecord>
  /**
   * Every run of a session, those inside others included, in the order in which they were put in, from behind one on. Fewer
   * than `limit` when they are large; none at the end.
   */
  readRecords(sessionId: string, after: string | undefined, limit: number): Promise<RunRecord[]>

  startRun(start: RunStart): Promise<RunStarted>
  /** `queued` → `running`; false when it is no longer queued. */
  beginRun(runId: string, fence: number, at: string): Promise<boolean>
  /** False when fenced or ended: the caller stops. */
  appendEvents(batch: RunBatch): Promise<boolean>
  finishRun(end: RunEnd): Promise<RunFinished>
  /**
   * A paused run (`isResumable`) → `running`, under a new fence. What its end had written goes: end event, output messages,
   * sources, usage; its next end writes them anew. Its events and `truncated` stay.
   */
  resumeRun(resume: RunResume): Promise<RunResumed>
  findRun(runId: string): Promise<RunRecord | undefined>
  /** For those who need no more of it; absent: `findRun` is asked. */
  findRunHead?(runId: string): Promise<RunHead | undefined>
  /** The newest first, in the order in which they were put in. */
  listRuns(filter: RunFilter, page: PageRequest): Promise<Page<Run>>
  /**
   * Recorded events with `seq > after`, in order, at most `limit`, fewer when they are large, none at the end; the start and
   * end events (core/event.ts) included. `types` given: the caller needs no others, and a store may leave those out.
   */
  readEvents(runId: string, after: number, limit: number, types?: readonly RunEvent['type'][]): Promise<RunEvent[]>
  /** The newest `limit` runs of a session, with `before` of those put in before that run; the cost does not grow with the session. */
  readHistory(sessionId: string, limit: number, before?: string): Promise<History>
  /**
   * The newest first, as they are now: nothing that was deleted is found. A page may have fewer than `limit` and be followed
   * by others. Writing costs nothing for it; what is needed is made by the search, which is `unavailable` while that takes long.
   */
  searchMessages(search: MessageSearch, page: PageRequest): Promise<Page<MessageHit>>

  /** The newest answer to a key is the one that counts; it goes with its run. One whose run does not exist is not kept. */
  cacheAnswer(answer: CachedAnswer): Promise<void>
  /** The run that answered, if it is `completed` and its time has not come. */
  findCached(key: string): Promise<RunRecord | undefined>

  saveSummary(summary: Summary): Promise<void>
  findSummary(sessionId: string): Promise<Summary | undefined>
  /**
   * Durable until a summary of the session is saved or the job is dropped; twice is once, in its first place, begun by
   * nobody.
   */
  scheduleSummary(sessionId: string, at: string): Promise<void>
  /** Before work on a job begins, durable. How often that has been said of this job, this time included; 0: there is none. */
  beginSummaryJob(sessionId: string): Promise<number>
  dropSummaryJob(sessionId: string): Promise<void>
  /** Oldest first. */
  listSummaryJobs(): Promise<string[]>

  /** Undefined: the key is now the caller's. */
  claim(claim: Claim): Promise<ClaimRecord | undefined>
  completeClaim(key: string, answer: Json): Promise<void>
  /** For work that failed before it kept anything: the next request with this key starts anew. */
  releaseClaim(key: string): Promise<void>
  findClaim(key: string): Promise<ClaimRecord | undefined>

  /**
   * Once after `open`, by `owner`: what an earlier process left in `running` becomes `interrupted`, foreground runs in
   * `queued` likewise, their unchecked messages refused, claims without run and answer are released, expired claims and answers go.
   */
  recover(owner: string, at: string): Promise<Recovered>
}
