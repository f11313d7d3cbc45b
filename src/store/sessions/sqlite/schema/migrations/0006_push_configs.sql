CREATE TABLE `push_configs` (
	`push_run_id` text NOT NULL,
	`push_config_id` text NOT NULL,
	`push_url` text NOT NULL,
	`push_token` text,
	`push_authentication` text,
	`push_version` text NOT NULL,
	`push_created_at` text NOT NULL,
	`push_owner` text NOT NULL,
	`push_fence` integer NOT NULL,
	`push_failures` integer NOT NULL,
	`push_unsent` integer NOT NULL,
	PRIMARY KEY(`push_run_id`, `push_config_id`),
	FOREIGN KEY (`push_run_id`) REFERENCES `runs`(`run_id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `push_configs_unsent` ON `push_configs` (`push_owner`) WHERE push_unsent = 1;
