import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/* Tables of work that outlives processes (schema.ts). */

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
