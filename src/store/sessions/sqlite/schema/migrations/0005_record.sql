CREATE TABLE `session_usage` (
	`usage_session_id` text NOT NULL,
	`usage_model` text NOT NULL,
	`usage_runs` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`total_tokens` integer NOT NULL,
	`cached_input_tokens` integer NOT NULL,
	`cached_input_runs` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`cache_write_runs` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`reasoning_runs` integer NOT NULL,
	`unreported_calls` integer NOT NULL,
	`largest_input_tokens` integer,
	PRIMARY KEY(`usage_session_id`, `usage_model`)
) WITHOUT ROWID;
--> statement-breakpoint
DROP INDEX `runs_by_status`;--> statement-breakpoint
CREATE INDEX `runs_by_status` ON `runs` (`status`,`run_number`,`run_session_id`,`parent_run_id`,`replaced_by`) WHERE status <> 'completed';--> statement-breakpoint
INSERT INTO `session_usage`
	SELECT `run_session_id`, '', count(*), sum(`ended` ->> '$.usage.input_tokens'), sum(`ended` ->> '$.usage.output_tokens'),
		sum(`ended` ->> '$.usage.total_tokens'), 0, 0, 0, 0, 0, 0, 0, NULL
	FROM `runs` WHERE `parent_run_id` IS NULL AND `ended` ->> '$.usage.input_tokens' IS NOT NULL GROUP BY `run_session_id`;
