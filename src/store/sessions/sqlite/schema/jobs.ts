import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/* Tables of work that outlives processes, and of what was done (schema.ts). */

/** How far the schedules of the config have come. */
export const schedules = sqliteTable('schedules', {
  name: text('schedule_name').primaryKey().notNull(),
  rule: text('schedule_rule').notNull(),
  handledUntil: text('schedule_handled_until').notNull(),
  runId: text('schedule_run_id'),
  runAt: text('schedule_run_at'),
  skippedAt: text('schedule_skipped_at'),
  paused: integer('schedule_paused').notNull(),
})

/** What webhooks have to be told about runs. Written before the run, so without a reference to it. */
export const webhookJobs = sqliteTable(
  'webhook_jobs',
  {
    runId: text('webhook_run_id').notNull(),
    webhook: text('webhook_name').notNull(),
    toldSeq: integer('webhook_told_seq').notNull(),
    attempts: integer('webhook_attempts').notNull(),
    fence: integer('webhook_fence').notNull(),
    /** Null: when the run has ended or paused. */
    dueAt: text('webhook_due_at'),
    createdAt: text('webhook_created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.webhook] }),
    index('webhook_jobs_due').on(table.dueAt).where(sql`webhook_due_at IS NOT NULL`),
  ],
)

/** Who has done what. */
export const auditEntries = sqliteTable(
  'audit_entries',
  {
    at: text('audit_at').notNull(),
    entryId: text('audit_entry_id').notNull(),
    action: text('audit_action').notNull(),
    caller: text('audit_caller').notNull(),
    userId: text('audit_user_id'),
    objectKind: text('audit_object_kind'),
    objectId: text('audit_object_id'),
    /** Null: it is under way, or its server ended first. */
    outcome: text('audit_outcome'),
    requestId: text('audit_request_id'),
    serverId: text('audit_server_id').notNull(),
    /** JSON */
    detail: text('audit_detail'),
  },
  (table) => [
    primaryKey({ columns: [table.at, table.entryId] }),
    index('audit_entries_by_caller').on(table.caller),
    index('audit_entries_by_user').on(table.userId).where(sql`audit_user_id IS NOT NULL`),
    index('audit_entries_by_object').on(table.objectId).where(sql`audit_object_id IS NOT NULL`),
  ],
)
