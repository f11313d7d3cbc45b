CREATE TABLE `schedules` (
	`schedule_name` text PRIMARY KEY NOT NULL,
	`schedule_rule` text NOT NULL,
	`schedule_handled_until` text NOT NULL,
	`schedule_run_id` text,
	`schedule_run_at` text,
	`schedule_skipped_at` text,
	`schedule_paused` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `webhook_jobs` (
	`webhook_run_id` text NOT NULL,
	`webhook_name` text NOT NULL,
	`webhook_told_seq` integer NOT NULL,
	`webhook_attempts` integer NOT NULL,
	`webhook_fence` integer NOT NULL,
	`webhook_due_at` text,
	`webhook_created_at` text NOT NULL,
	PRIMARY KEY(`webhook_run_id`, `webhook_name`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `webhook_jobs_due` ON `webhook_jobs` (`webhook_due_at`) WHERE webhook_due_at IS NOT NULL;
