/** The files of `migrations/`, word for word, so that nothing is read from disk at run time. */
export const migrations: readonly { name: string; sql: string }[] = [
  {
    name: '0000_sessions',
    sql: `CREATE TABLE \`cached_answers\` (
	\`answer_key\` text PRIMARY KEY NOT NULL,
	\`answer_run_id\` text NOT NULL,
	\`answer_expires_at\` text NOT NULL,
	FOREIGN KEY (\`answer_run_id\`) REFERENCES \`runs\`(\`run_id\`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX \`cached_answers_by_run\` ON \`cached_answers\` (\`answer_run_id\`);--> statement-breakpoint
CREATE INDEX \`cached_answers_by_expiry\` ON \`cached_answers\` (\`answer_expires_at\`);--> statement-breakpoint
CREATE TABLE \`claims\` (
	\`claim_key\` text PRIMARY KEY NOT NULL,
	\`claim_hash\` text NOT NULL,
	\`expires_at\` text NOT NULL,
	\`claim_run_id\` text,
	\`answer\` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`claims_by_expiry\` ON \`claims\` (\`expires_at\`);--> statement-breakpoint
CREATE TABLE \`events\` (
	\`event_run_number\` integer NOT NULL,
	\`first_seq\` integer NOT NULL,
	\`batch\` text NOT NULL,
	PRIMARY KEY(\`event_run_number\`, \`first_seq\`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE \`runs\` (
	\`run_number\` integer PRIMARY KEY NOT NULL,
	\`run_id\` text NOT NULL,
	\`run_session_id\` text NOT NULL,
	\`entity_id\` text NOT NULL,
	\`status\` text NOT NULL,
	\`run_user_id\` text,
	\`parent_run_id\` text,
	\`truncated\` integer NOT NULL,
	\`owner\` text NOT NULL,
	\`fence\` integer NOT NULL,
	\`reserve_until\` integer NOT NULL,
	\`recorded_seq\` integer NOT NULL,
	\`run_claim_key\` text,
	\`run_claim_hash\` text,
	\`run_claim_expires_at\` text,
	\`start_state\` text,
	\`begun\` text NOT NULL,
	\`ended\` text,
	\`input\` text NOT NULL,
	\`output\` text,
	\`last_batch\` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX \`runs_by_id\` ON \`runs\` (\`run_id\`);--> statement-breakpoint
CREATE UNIQUE INDEX \`runs_one_running\` ON \`runs\` (\`run_session_id\`) WHERE status = 'running' AND parent_run_id IS NULL;--> statement-breakpoint
CREATE INDEX \`runs_by_session\` ON \`runs\` (\`run_session_id\`);--> statement-breakpoint
CREATE INDEX \`runs_by_entity\` ON \`runs\` (\`entity_id\`);--> statement-breakpoint
CREATE INDEX \`runs_by_status\` ON \`runs\` (\`status\`) WHERE status <> 'completed';--> statement-breakpoint
CREATE INDEX \`runs_by_user\` ON \`runs\` (\`run_user_id\`) WHERE run_user_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX \`runs_by_parent\` ON \`runs\` (\`parent_run_id\`) WHERE parent_run_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX \`runs_by_claim\` ON \`runs\` (\`run_claim_key\`) WHERE run_claim_key IS NOT NULL;--> statement-breakpoint
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
CREATE INDEX \`sessions_by_agent\` ON \`sessions\` (\`agent_id\`,\`updated_at\`,\`session_id\`) WHERE agent_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX \`sessions_by_team\` ON \`sessions\` (\`team_id\`,\`updated_at\`,\`session_id\`) WHERE team_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX \`sessions_by_workflow\` ON \`sessions\` (\`workflow_id\`,\`updated_at\`,\`session_id\`) WHERE workflow_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX \`sessions_by_user\` ON \`sessions\` (\`user_id\`,\`updated_at\`,\`session_id\`) WHERE user_id IS NOT NULL;--> statement-breakpoint
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
    name: '0001_private_answers',
    sql: `DELETE FROM \`cached_answers\`;
`,
  },
  {
    name: '0002_handovers',
    sql: `ALTER TABLE \`session_owners\` ADD \`owner_read_until\` integer;--> statement-breakpoint
UPDATE \`session_owners\` SET \`owner_read_until\` = (SELECT max(\`run_number\`) FROM \`runs\`
	WHERE \`run_session_id\` = \`owner_session_id\` AND \`run_user_id\` = \`owner_id\` AND \`parent_run_id\` IS NULL)
	WHERE \`owner_kind\` = 'user';
`,
  },
  {
    name: '0003_hidden_sessions',
    sql: `CREATE TABLE \`hidden_sessions\` (
	\`hidden_session_id\` text PRIMARY KEY NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE \`summary_jobs\` ADD \`job_attempts\` integer DEFAULT 0 NOT NULL;
`,
  },
  {
    name: '0004_files',
    sql: `CREATE TABLE \`file_contents\` (
	\`content_hash\` text NOT NULL,
	\`content_piece\` integer NOT NULL,
	\`content_bytes\` blob NOT NULL,
	PRIMARY KEY(\`content_hash\`, \`content_piece\`)
);
--> statement-breakpoint
CREATE TABLE \`files\` (
	\`file_session_id\` text NOT NULL,
	\`file_id\` text NOT NULL,
	\`file_run_id\` text NOT NULL,
	\`file_hash\` text NOT NULL,
	\`file_media_type\` text NOT NULL,
	\`file_name\` text,
	\`file_size\` integer NOT NULL,
	\`file_url\` text,
	PRIMARY KEY(\`file_session_id\`, \`file_id\`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`files_by_hash\` ON \`files\` (\`file_hash\`);--> statement-breakpoint
CREATE INDEX \`files_by_run\` ON \`files\` (\`file_run_id\`);--> statement-breakpoint
ALTER TABLE \`runs\` ADD \`given\` text;--> statement-breakpoint
ALTER TABLE \`runs\` ADD \`replaced_by\` text;--> statement-breakpoint
ALTER TABLE \`runs\` ADD \`follows\` text;--> statement-breakpoint
ALTER TABLE \`runs\` ADD \`state_before\` text;--> statement-breakpoint
ALTER TABLE \`runs\` ADD \`replaced_state\` text;--> statement-breakpoint
CREATE INDEX \`runs_by_replacement\` ON \`runs\` (\`replaced_by\`) WHERE replaced_by IS NOT NULL;
`,
  },
  {
    name: '0005_record',
    sql: `CREATE TABLE \`session_usage\` (
	\`usage_session_id\` text NOT NULL,
	\`usage_model\` text NOT NULL,
	\`usage_runs\` integer NOT NULL,
	\`input_tokens\` integer NOT NULL,
	\`output_tokens\` integer NOT NULL,
	\`total_tokens\` integer NOT NULL,
	\`cached_input_tokens\` integer NOT NULL,
	\`cached_input_runs\` integer NOT NULL,
	\`cache_write_tokens\` integer NOT NULL,
	\`cache_write_runs\` integer NOT NULL,
	\`reasoning_tokens\` integer NOT NULL,
	\`reasoning_runs\` integer NOT NULL,
	\`unreported_calls\` integer NOT NULL,
	\`largest_input_tokens\` integer,
	PRIMARY KEY(\`usage_session_id\`, \`usage_model\`)
) WITHOUT ROWID;
--> statement-breakpoint
DROP INDEX \`runs_by_status\`;--> statement-breakpoint
CREATE INDEX \`runs_by_status\` ON \`runs\` (\`status\`,\`run_number\`,\`run_session_id\`,\`parent_run_id\`,\`replaced_by\`) WHERE status <> 'completed';--> statement-breakpoint
INSERT INTO \`session_usage\`
	SELECT \`run_session_id\`, '', count(*), sum(\`ended\` ->> '$.usage.input_tokens'), sum(\`ended\` ->> '$.usage.output_tokens'),
		sum(\`ended\` ->> '$.usage.total_tokens'), 0, 0, 0, 0, 0, 0, 0, NULL
	FROM \`runs\` WHERE \`parent_run_id\` IS NULL AND \`ended\` ->> '$.usage.input_tokens' IS NOT NULL GROUP BY \`run_session_id\`;
`,
  },
  {
    name: '0006_push_configs',
    sql: `CREATE TABLE \`push_configs\` (
	\`push_run_id\` text NOT NULL,
	\`push_config_id\` text NOT NULL,
	\`push_url\` text NOT NULL,
	\`push_token\` text,
	\`push_authentication\` text,
	\`push_version\` text NOT NULL,
	\`push_created_at\` text NOT NULL,
	\`push_owner\` text NOT NULL,
	\`push_fence\` integer NOT NULL,
	\`push_failures\` integer NOT NULL,
	\`push_unsent\` integer NOT NULL,
	PRIMARY KEY(\`push_run_id\`, \`push_config_id\`),
	FOREIGN KEY (\`push_run_id\`) REFERENCES \`runs\`(\`run_id\`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`push_configs_unsent\` ON \`push_configs\` (\`push_owner\`) WHERE push_unsent = 1;
`,
  },
  {
    name: '0007_facts',
    sql: `CREATE TABLE \`facts\` (
	\`fact_user_id\` text NOT NULL,
	\`fact_id\` text NOT NULL,
	\`fact_content\` text NOT NULL,
	\`fact_agent_id\` text NOT NULL,
	\`fact_run_id\` text NOT NULL,
	\`fact_created_at\` text NOT NULL,
	PRIMARY KEY(\`fact_user_id\`, \`fact_id\`)
) WITHOUT ROWID;
`,
  },
  {
    name: '0008_schedules',
    sql: `CREATE TABLE \`schedules\` (
	\`schedule_name\` text PRIMARY KEY NOT NULL,
	\`schedule_rule\` text NOT NULL,
	\`schedule_handled_until\` text NOT NULL,
	\`schedule_run_id\` text,
	\`schedule_run_at\` text,
	\`schedule_skipped_at\` text,
	\`schedule_paused\` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE \`webhook_jobs\` (
	\`webhook_run_id\` text NOT NULL,
	\`webhook_name\` text NOT NULL,
	\`webhook_told_seq\` integer NOT NULL,
	\`webhook_attempts\` integer NOT NULL,
	\`webhook_fence\` integer NOT NULL,
	\`webhook_due_at\` text,
	\`webhook_created_at\` text NOT NULL,
	PRIMARY KEY(\`webhook_run_id\`, \`webhook_name\`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`webhook_jobs_due\` ON \`webhook_jobs\` (\`webhook_due_at\`) WHERE webhook_due_at IS NOT NULL;
`,
  },
  {
    name: '0009_audit',
    sql: `CREATE TABLE \`audit_entries\` (
	\`audit_at\` text NOT NULL,
	\`audit_entry_id\` text NOT NULL,
	\`audit_action\` text NOT NULL,
	\`audit_caller\` text NOT NULL,
	\`audit_user_id\` text,
	\`audit_object_kind\` text,
	\`audit_object_id\` text,
	\`audit_outcome\` text,
	\`audit_request_id\` text,
	\`audit_server_id\` text NOT NULL,
	\`audit_detail\` text,
	PRIMARY KEY(\`audit_at\`, \`audit_entry_id\`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX \`audit_entries_by_caller\` ON \`audit_entries\` (\`audit_caller\`);
--> statement-breakpoint
CREATE INDEX \`audit_entries_by_user\` ON \`audit_entries\` (\`audit_user_id\`) WHERE audit_user_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX \`audit_entries_by_object\` ON \`audit_entries\` (\`audit_object_id\`) WHERE audit_object_id IS NOT NULL;
`,
  },
]
