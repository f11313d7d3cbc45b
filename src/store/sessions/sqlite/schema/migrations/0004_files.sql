CREATE TABLE `file_contents` (
	`content_hash` text NOT NULL,
	`content_piece` integer NOT NULL,
	`content_bytes` blob NOT NULL,
	PRIMARY KEY(`content_hash`, `content_piece`)
);
--> statement-breakpoint
CREATE TABLE `files` (
	`file_session_id` text NOT NULL,
	`file_id` text NOT NULL,
	`file_run_id` text NOT NULL,
	`file_hash` text NOT NULL,
	`file_media_type` text NOT NULL,
	`file_name` text,
	`file_size` integer NOT NULL,
	`file_url` text,
	PRIMARY KEY(`file_session_id`, `file_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `files_by_hash` ON `files` (`file_hash`);--> statement-breakpoint
CREATE INDEX `files_by_run` ON `files` (`file_run_id`);--> statement-breakpoint
ALTER TABLE `runs` ADD `given` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `replaced_by` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `follows` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `state_before` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `replaced_state` text;--> statement-breakpoint
CREATE INDEX `runs_by_replacement` ON `runs` (`replaced_by`) WHERE replaced_by IS NOT NULL;
