CREATE TABLE `cached_answers` (
	`answer_key` text PRIMARY KEY NOT NULL,
	`answer_run_id` text NOT NULL,
	`answer_expires_at` text NOT NULL,
	FOREIGN KEY (`answer_run_id`) REFERENCES `runs`(`run_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `cached_answers_by_run` ON `cached_answers` (`answer_run_id`);--> statement-breakpoint
CREATE INDEX `cached_answers_by_expiry` ON `cached_answers` (`answer_expires_at`);