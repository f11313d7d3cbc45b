DROP INDEX `runs_one_running`;--> statement-breakpoint
ALTER TABLE `runs` ADD `parent_run_id` text;--> statement-breakpoint
CREATE INDEX `runs_by_parent` ON `runs` (`parent_run_id`) WHERE parent_run_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `runs_one_running` ON `runs` (`run_session_id`) WHERE status = 'running' AND parent_run_id IS NULL;