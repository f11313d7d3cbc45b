/** A step from one version of the file to the next; its place in the list, from 1, is the version it leads to. */
export interface Migration {
  name: string
  sql: string
}

/** The files of `migrations/`, word for word, so that nothing is read from disk at run time. */
export const migrations: readonly Migration[] = [
  {
    name: '0000_sessions',
    sql: `CREATE TABLE \`claims\` (
	\`claim_key\` text PRIMARY KEY NOT NULL,
	\`claim_hash\` text NOT NULL,
	\`expires_at\` text NOT NULL,
	\`claim_run_id\` text,
	\`answer\` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`claims_by_expiry\` ON \`claims\` (\`expires_at\`);--> statement-breakpoint
CREATE TABLE \`events\` (
	\`event_run_id\` text NOT NULL,
	\`first_seq\` integer NOT NULL,
	\`last_seq\` integer NOT NULL,
	\`batch\` text NOT NULL,
	PRIMARY KEY(\`event_run_id\`, \`first_seq\`),
	FOREIGN KEY (\`event_run_id\`) REFERENCES \`runs\`(\`run_id\`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE \`messages\` (
	\`message_run_id\` text NOT NULL,
	\`message_seq\` integer NOT NULL,
	\`message_index\` integer NOT NULL,
	\`message_id\` text NOT NULL,
	\`role\` text NOT NULL,
	\`parts\` text NOT NULL,
	\`message_created_at\` text NOT NULL,
	PRIMARY KEY(\`message_run_id\`, \`message_seq\`, \`message_index\`),
	FOREIGN KEY (\`message_run_id\`) REFERENCES \`runs\`(\`run_id\`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE \`runs\` (
	\`run_number\` integer PRIMARY KEY NOT NULL,
	\`run_id\` text NOT NULL,
	\`run_session_id\` text NOT NULL,
	\`entity_id\` text NOT NULL,
	\`entity_kind\` text NOT NULL,
	\`status\` text NOT NULL,
	\`run_created_at\` text NOT NULL,
	\`started_at\` text,
	\`completed_at\` text,
	\`cancellation_reason\` text,
	\`error\` text,
	\`cache_hit\` integer NOT NULL,
	\`usage\` text,
	\`run_user_id\` text,
	\`run_metadata\` text,
	\`background\` integer NOT NULL,
	\`timeout_ms\` integer,
	\`truncated\` integer NOT NULL,
	\`end_seq\` integer,
	\`sources\` text,
	\`owner\` text NOT NULL,
	\`fence\` integer NOT NULL,
	\`reserve_until\` integer NOT NULL,
	\`recorded_seq\` integer NOT NULL,
	\`start_state\` text,
	FOREIGN KEY (\`run_session_id\`) REFERENCES \`sessions\`(\`session_id\`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX \`runs_by_id\` ON \`runs\` (\`run_id\`);--> statement-breakpoint
CREATE UNIQUE INDEX \`runs_one_running\` ON \`runs\` (\`run_session_id\`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX \`runs_by_session\` ON \`runs\` (\`run_session_id\`);--> statement-breakpoint
CREATE INDEX \`runs_by_entity\` ON \`runs\` (\`entity_id\`);--> statement-breakpoint
CREATE INDEX \`runs_by_status\` ON \`runs\` (\`status\`) WHERE status <> 'completed';--> statement-breakpoint
CREATE INDEX \`runs_by_user\` ON \`runs\` (\`run_user_id\`) WHERE run_user_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE \`session_owners\` (
	\`owner_session_id\` text NOT NULL,
	\`owner_kind\` text NOT NULL,
	\`owner_id\` text NOT NULL,
	\`owner_position\` integer NOT NULL,
	\`owner_updated_at\` text NOT NULL,
	PRIMARY KEY(\`owner_session_id\`, \`owner_kind\`, \`owner_id\`),
	FOREIGN KEY (\`owner_session_id\`) REFERENCES \`sessions\`(\`session_id\`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`session_owners_by_update\` ON \`session_owners\` (\`owner_kind\`,\`owner_id\`,\`owner_updated_at\`,\`owner_session_id\`);--> statement-breakpoint
CREATE TABLE \`sessions\` (
	\`session_id\` text PRIMARY KEY NOT NULL,
	\`agent_id\` text,
	\`team_id\` text,
	\`workflow_id\` text,
	\`user_id\` text,
	\`name\` text,
	\`metadata\` text,
	\`state\` text,
	\`created_at\` text NOT NULL,
	\`updated_at\` text NOT NULL,
	\`revision\` integer NOT NULL,
	\`run_count\` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`sessions_by_update\` ON \`sessions\` (\`updated_at\`,\`session_id\`);--> statement-breakpoint
CREATE TABLE \`summaries\` (
	\`summary_session_id\` text PRIMARY KEY NOT NULL,
	\`content\` text NOT NULL,
	\`model\` text NOT NULL,
	\`summary_run_count\` integer NOT NULL,
	\`message_count\` integer NOT NULL,
	\`summary_created_at\` text NOT NULL,
	FOREIGN KEY (\`summary_session_id\`) REFERENCES \`sessions\`(\`session_id\`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE \`summary_jobs\` (
	\`job_session_id\` text PRIMARY KEY NOT NULL,
	\`scheduled_at\` text NOT NULL,
	FOREIGN KEY (\`job_session_id\`) REFERENCES \`sessions\`(\`session_id\`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
`,
  },
  {
    name: '0001_answers',
    sql: `CREATE TABLE \`cached_answers\` (
	\`answer_key\` text PRIMARY KEY NOT NULL,
	\`answer_run_id\` text NOT NULL,
	\`answer_expires_at\` text NOT NULL,
	FOREIGN KEY (\`answer_run_id\`) REFERENCES \`runs\`(\`run_id\`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX \`cached_answers_by_run\` ON \`cached_answers\` (\`answer_run_id\`);--> statement-breakpoint
CREATE INDEX \`cached_answers_by_expiry\` ON \`cached_answers\` (\`answer_expires_at\`);`,
  },
  {
    name: '0002_parent_runs',
    sql: `DROP INDEX \`runs_one_running\`;--> statement-breakpoint
ALTER TABLE \`runs\` ADD \`parent_run_id\` text;--> statement-breakpoint
CREATE INDEX \`runs_by_parent\` ON \`runs\` (\`parent_run_id\`) WHERE parent_run_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX \`runs_one_running\` ON \`runs\` (\`run_session_id\`) WHERE status = 'running' AND parent_run_id IS NULL;`,
  },
]
