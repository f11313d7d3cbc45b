CREATE TABLE `audit_entries` (
	`audit_at` text NOT NULL,
	`audit_entry_id` text NOT NULL,
	`audit_action` text NOT NULL,
	`audit_caller` text NOT NULL,
	`audit_user_id` text,
	`audit_object_kind` text,
	`audit_object_id` text,
	`audit_outcome` text,
	`audit_request_id` text,
	`audit_server_id` text NOT NULL,
	`audit_detail` text,
	PRIMARY KEY(`audit_at`, `audit_entry_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audit_entries_by_caller` ON `audit_entries` (`audit_caller`);
--> statement-breakpoint
CREATE INDEX `audit_entries_by_user` ON `audit_entries` (`audit_user_id`) WHERE audit_user_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `audit_entries_by_object` ON `audit_entries` (`audit_object_id`) WHERE audit_object_id IS NOT NULL;
