import { sql } from 'drizzle-orm'
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { PushVersion } from '../../../../core/push.ts'
import type { RunStatus } from '../../../../core/run.ts'
import type { OwnerKind } from '../../../../core/session.ts'

/**
 * The source of the tables: drizzle-kit generates the migrations from it. Column names are unique in the whole schema,
 * because rows are objects, in which equal names of a join would overwrite each other. Columns marked `JSON` hold JSON
 * text. What every run writes is in few B-trees, because each costs a page per commit: a run's data is in its row, rare
 * data is in partial indexes and tables of its own, and there are no foreign keys.
 */

export const sessions = sqliteTable(
  'sessions',
  {
    sessionId: text('session_id').primaryKey().notNull(),
    agentId: text('agent_id'),
    teamId: text('team_id'),
    workflowId: text('workflow_id'),
    userId: text('user_id'),
    name: text('name'),
    /** JSON */
    metadata: text('metadata'),
    /** JSON */
    state: text('state'),
    createdAt: text('created_at').notNull(),
    updatedAt: text('updated_at').notNull(),
    revision: integer('revision').notNull(),
    runCount: integer('run_count').notNull(),
  },
  (table) => [
    index('sessions_by_update').on(table.updatedAt, table.sessionId),
    index('sessions_by_agent').on(table.agentId, table.updatedAt, table.sessionId).where(sql`agent_id IS NOT NULL`),
    index('sessions_by_team').on(table.teamId, table.updatedAt, table.sessionId).where(sql`team_id IS NOT NULL`),
    index('sessions_by_workflow')
      .on(table.workflowId, table.updatedAt, table.sessionId)
      .where(sql`workflow_id IS NOT NULL`),
    index('sessions_by_user').on(table.userId, table.updatedAt, table.sessionId).where(sql`user_id IS NOT NULL`),
  ],
)

/** What the turns of a session used, by model, so that a list need not add up its runs. */
export const sessionUsage = sqliteTable(
  'session_usage',
  {
    sessionId: text('usage_session_id').notNull(),
    /** Empty: recorded without the model. */
    model: text('usage_model').notNull(),
    /** How many runs are in the sum. One that is resumed is taken out; without any the row goes. */
    runs: integer('usage_runs').notNull(),
    inputTokens: integer('input_tokens').notNull(),
    outputTokens: integer('output_tokens').notNull(),
    totalTokens: integer('total_tokens').notNull(),
    cachedInputTokens: integer('cached_input_tokens').notNull(),
    /** How many runs reported it; without any it is unknown, not zero. Likewise the next two. */
    cachedInputRuns: integer('cached_input_runs').notNull(),
    cacheWriteTokens: integer('cache_write_tokens').notNull(),
    cacheWriteRuns: integer('cache_write_runs').notNull(),
    reasoningTokens: integer('reasoning_tokens').notNull(),
    reasoningRuns: integer('reasoning_runs').notNull(),
    unreportedCalls: integer('unreported_calls').notNull(),
    /** Of all runs so far, also of one that was resumed. */
    largestInputTokens: integer('largest_input_tokens'),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.model] })],
)

/** Earlier owners of sessions; the present ones are columns of the session. An owner who returned is in both. */
export const sessionOwners = sqliteTable(
  'session_owners',
  {
    sessionId: text('owner_session_id')
      .notNull()
      .references(() => sessions.sessionId, { onDelete: 'cascade' }),
    kind: text('owner_kind').$type<OwnerKind>().notNull(),
    ownerId: text('owner_id').notNull(),
    /** Orders the owners of a session by when they came. */
    position: integer('owner_position').notNull(),
    /** The session's `updated_at`, repeated so that a page of one owner's sessions reads one index. */
    updatedAt: text('owner_updated_at').notNull(),
    /** The number of the last run that an earlier user may read; null: none. */
    readUntil: integer('owner_read_until'),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.kind, table.ownerId] }),
    index('session_owners_by_update').on(table.kind, table.ownerId, table.updatedAt, table.sessionId),
  ],
)

export const runs = sqliteTable(
  'runs',
  {
    /** The order of starting, which is the order of the conversation; it does not depend on a clock. */
    runNumber: integer('run_number').primaryKey().notNull(),
    runId: text('run_id').notNull().unique('runs_by_id'),
    sessionId: text('run_session_id').notNull(),
    entityId: text('entity_id').notNull(),
    status: text('status').$type<RunStatus>().notNull(),
    userId: text('run_user_id'),
    /** Null: a turn of its session. Empty: a try, neither a turn nor a child (core/run.ts). */
    parentRunId: text('parent_run_id'),
    truncated: integer('truncated').notNull(),
    /** The process that executes it, and the fence that a later write must name. */
    owner: text('owner').notNull(),
    fence: integer('fence').notNull(),
    /** Event numbers up to this one may have been used. */
    reserveUntil: integer('reserve_until').notNull(),
    lastSeq: integer('recorded_seq').notNull(),
    /** The idempotency key of its start. */
    claimKey: text('run_claim_key'),
    claimHash: text('run_claim_hash'),
    claimExpiresAt: text('run_claim_expires_at'),
    /** JSON; merged into the session's state when a queued run begins. */
    startState: text('start_state'),
    /** JSON, `Begun` of rows.ts. */
    begun: text('begun').notNull(),
    /** JSON, `Ended` of rows.ts; null until the run ends. */
    ended: text('ended'),
    /** JSON, `MessageRow`s of rows.ts. */
    input: text('input').notNull(),
    /** JSON, likewise. */
    output: text('output'),
    /** JSON as in event-batch.ts: the last batch of events, if it came with the end. */
    lastBatch: text('last_batch'),
    /** JSON, `RunGiven`: what the caller gave besides the input. */
    given: text('given'),
    /** The id of the run that took the place of this turn. */
    replacedBy: text('replaced_by'),
    /** The id of the turn before it, since it was first replaced; null: it was the first. */
    follows: text('follows'),
    /** JSON: the session's state before this run first changed it; null while it has not. */
    stateBefore: text('state_before'),
    /** JSON: the session's state when this turn, then the last of the conversation, was replaced. Of a try: what it left. */
    replacedState: text('replaced_state'),
  },
  (table) => [
    uniqueIndex('runs_one_running').on(table.sessionId).where(sql`status = 'running' AND parent_run_id IS NULL`),
    // Lists are sorted by `run_number`, which every index ends with.
    index('runs_by_session').on(table.sessionId),
    index('runs_by_entity').on(table.entityId),
    // Most runs are completed; a list of those reads the table. Totals of sessions by status need the other columns.
    index('runs_by_status')
      .on(table.status, table.runNumber, table.sessionId, table.parentRunId, table.replacedBy)
      .where(sql`status <> 'completed'`),
    index('runs_by_user').on(table.userId).where(sql`run_user_id IS NOT NULL`),
    index('runs_by_parent').on(table.parentRunId).where(sql`parent_run_id IS NOT NULL`),
    index('runs_by_replacement').on(table.replacedBy).where(sql`replaced_by IS NOT NULL`),
    uniqueIndex('runs_by_claim').on(table.claimKey).where(sql`run_claim_key IS NOT NULL`),
  ],
)

/** Files of sessions. What they contain is in `file_contents`. */
export const files = sqliteTable(
  'files',
  {
    sessionId: text('file_session_id').notNull(),
    fileId: text('file_id').notNull(),
    runId: text('file_run_id').notNull(),
    hash: text('file_hash').notNull(),
    mediaType: text('file_media_type').notNull(),
    name: text('file_name'),
    size: integer('file_size').notNull(),
    /** Where it was fetched from. */
    url: text('file_url'),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.fileId] }),
    index('files_by_hash').on(table.hash),
    index('files_by_run').on(table.runId),
  ],
)

/** Each content once, in pieces, so that no statement handles all of a large file. */
export const fileContents = sqliteTable(
  'file_contents',
  {
    hash: text('content_hash').notNull(),
    piece: integer('content_piece').notNull(),
    bytes: blob('content_bytes', { mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.hash, table.piece] })],
)

/** One row per batch, except the batch that comes with a run's end. */
export const events = sqliteTable(
  'events',
  {
    runNumber: integer('event_run_number').notNull(),
    firstSeq: integer('first_seq').notNull(),
    /** JSON as in event-batch.ts. */
    batch: text('batch').notNull(),
  },
  (table) => [primaryKey({ columns: [table.runNumber, table.firstSeq] })],
)

export const summaries = sqliteTable('summaries', {
  sessionId: text('summary_session_id')
    .primaryKey()
    .notNull()
    .references(() => sessions.sessionId, { onDelete: 'cascade' }),
  content: text('content').notNull(),
  model: text('model').notNull(),
  runCount: integer('summary_run_count').notNull(),
  messageCount: integer('message_count').notNull(),
  createdAt: text('summary_created_at').notNull(),
})

export const summaryJobs = sqliteTable('summary_jobs', {
  sessionId: text('job_session_id')
    .primaryKey()
    .notNull()
    .references(() => sessions.sessionId, { onDelete: 'cascade' }),
  scheduledAt: text('scheduled_at').notNull(),
  attempts: integer('job_attempts').notNull().default(0),
})

/** Sessions that are being restored or deleted, invisible to readers. The next process removes what is left. */
export const hiddenSessions = sqliteTable('hidden_sessions', {
  sessionId: text('hidden_session_id').primaryKey().notNull(),
})

/** Cached answers: the run that answers a repeated question. */
export const answers = sqliteTable(
  'cached_answers',
  {
    key: text('answer_key').primaryKey().notNull(),
    runId: text('answer_run_id')
      .notNull()
      .references(() => runs.runId, { onDelete: 'cascade' }),
    expiresAt: text('answer_expires_at').notNull(),
  },
  (table) => [index('cached_answers_by_run').on(table.runId), index('cached_answers_by_expiry').on(table.expiresAt)],
)

/** Where the states of a run are sent to. */
export const pushConfigs = sqliteTable(
  'push_configs',
  {
    runId: text('push_run_id')
      .notNull()
      .references(() => runs.runId, { onDelete: 'cascade' }),
    configId: text('push_config_id').notNull(),
    url: text('push_url').notNull(),
    token: text('push_token'),
    /** JSON */
    authentication: text('push_authentication'),
    version: text('push_version').$type<PushVersion>().notNull(),
    createdAt: text('push_created_at').notNull(),
    /** The process that sends, and the fence that its later writes must name. */
    owner: text('push_owner').notNull(),
    fence: integer('push_fence').notNull(),
    /** Notifications in a row that could not be delivered. */
    failures: integer('push_failures').notNull(),
    /** 1: the newest state may not have been delivered. */
    unsent: integer('push_unsent').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.configId] }),
    index('push_configs_unsent').on(table.owner).where(sql`push_unsent = 1`),
  ],
)

/** What is remembered of users. */
export const facts = sqliteTable(
  'facts',
  {
    userId: text('fact_user_id').notNull(),
    factId: text('fact_id').notNull(),
    content: text('fact_content').notNull(),
    agentId: text('fact_agent_id').notNull(),
    runId: text('fact_run_id').notNull(),
    createdAt: text('fact_created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.factId] })],
)

/** Idempotency keys of requests that started no run, and of deleted runs. */
export const claims = sqliteTable(
  'claims',
  {
    key: text('claim_key').primaryKey().notNull(),
    hash: text('claim_hash').notNull(),
    expiresAt: text('expires_at').notNull(),
    runId: text('claim_run_id'),
    /** JSON */
    answer: text('answer'),
  },
  (table) => [index('claims_by_expiry').on(table.expiresAt)],
)
