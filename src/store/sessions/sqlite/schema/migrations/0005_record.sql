CREATE TABLE `session_usage` (
	`usage_session_id` text NOT NULL,
	`usage_model` text NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`total_tokens` integer NOT NULL,
	`cached_input_tokens` integer,
	`cache_write_tokens` integer,
	`reasoning_tokens` integer,
	`largest_input_tokens` integer,
	PRIMARY KEY(`usage_session_id`, `usage_model`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `session_usage` (`usage_session_id`, `usage_model`, `input_tokens`, `output_tokens`, `total_tokens`)
	SELECT `run_session_id`, '', sum(`ended` ->> '$.usage.input_tokens'), sum(`ended` ->> '$.usage.output_tokens'),
		sum(`ended` ->> '$.usage.total_tokens')
	FROM `runs` WHERE `parent_run_id` IS NULL AND `ended` ->> '$.usage.input_tokens' IS NOT NULL GROUP BY `run_session_id`;
