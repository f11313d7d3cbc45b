CREATE TABLE `hidden_sessions` (
	`hidden_session_id` text PRIMARY KEY NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `summary_jobs` ADD `job_attempts` integer DEFAULT 0 NOT NULL;
