import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { RunStatus } from '../../../../core/run.ts'
import type { OwnerKind } from '../../../../core/session.ts'

/*
 * The truth about the tables: drizzle-kit writes the migrations from here. Column names are unique in the whole schema,
 * since rows come as objects, in which equal names of a join would silently become one. Columns that say `JSON` hold
 * JSON text.
 *
 * What every run writes is kept to few trees, since each costs a page of every commit: what belongs to a run is in its
 * row, what only a few have is in partial indexes and tables of its own, and nothing there has a foreign key.
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

/** The owners that a session had before its present ones, which are columns of its own; who came back is in both. */
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
    /** The session's `updated_at`, repeated so that a page of one owner's sessions costs a page. */
    updatedAt: text('owner_updated_at').notNull(),
    /** The number of the last run that a user who is not the present one may read; null: none. */
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
    /** The order of starting, in which a conversation is told; no clock can change it. */
    runNumber: integer('run_number').primaryKey().notNull(),
    runId: text('run_id').notNull().unique('runs_by_id'),
    sessionId: text('run_session_id').notNull(),
    entityId: text('entity_id').notNull(),
    status: text('status').$type<RunStatus>().notNull(),
    userId: text('run_user_id'),
    parentRunId: text('parent_run_id'),
    truncated: integer('truncated').notNull(),
    /** Who runs it, and the number that a later write must name. */
    owner: text('owner').notNull(),
    fence: integer('fence').notNull(),
    /** Event numbers up to here may have been used. */
    reserveUntil: integer('reserve_until').notNull(),
    /** The highest number recorded. */
    lastSeq: integer('recorded_seq').notNull(),
    /** The idempotency key under which it was started. */
    claimKey: text('run_claim_key'),
    claimHash: text('run_claim_hash'),
    claimExpiresAt: text('run_claim_expires_at'),
    /** JSON; what a queued run will merge over the session's state. */
    startState: text('start_state'),
    /** JSON, `Begun` of rows.ts. */
    begun: text('begun').notNull(),
    /** JSON, `Ended` of rows.ts; null while the run goes on. */
    ended: text('ended'),
    /** JSON, messages as rows.ts keeps them. */
    input: text('input').notNull(),
    /** JSON likewise. */
    output: text('output'),
    /** JSON: the last batch of events, as event-batch.ts writes it, when it came with an end. */
    lastBatch: text('last_batch'),
  },
  (table) => [
    uniqueIndex('runs_one_running').on(table.sessionId).where(sql`status = 'running' AND parent_run_id IS NULL`),
    // Lists go by `run_number`, which every index ends with.
    index('runs_by_session').on(table.sessionId),
    index('runs_by_entity').on(table.entityId),
    // Most runs are completed; a list of those walks the table.
    index('runs_by_status').on(table.status).where(sql`status <> 'completed'`),
    index('runs_by_user').on(table.userId).where(sql`run_user_id IS NOT NULL`),
    index('runs_by_parent').on(table.parentRunId).where(sql`parent_run_id IS NOT NULL`),
    uniqueIndex('runs_by_claim').on(table.claimKey).where(sql`run_claim_key IS NOT NULL`),
  ],
)

/** One row a batch, but for the one that comes with a run's end. */
export const events = sqliteTable(
  'events',
  {
    runNumber: integer('event_run_number').notNull(),
    firstSeq: integer('first_seq').notNull(),
    /** JSON, as event-batch.ts writes it. */
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
  /** How often it was begun. */
  attempts: integer('job_attempts').notNull().default(0),
})

/**
 * Sessions whose rows no reader may see: they are being restored from a copy, or were deleted and their rows go step by
 * step. Rows that an earlier process left are removed.
 */
export const hiddenSessions = sqliteTable('hidden_sessions', {
  sessionId: text('hidden_session_id').primaryKey().notNull(),
})

/** Which run answers a question that was asked before. */
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

/** Idempotency keys of what is no run, and of runs that are gone. */
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
