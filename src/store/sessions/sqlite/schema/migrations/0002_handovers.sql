ALTER TABLE `session_owners` ADD `owner_read_until` integer;--> statement-breakpoint
UPDATE `session_owners` SET `owner_read_until` = (SELECT max(`run_number`) FROM `runs`
	WHERE `run_session_id` = `owner_session_id` AND `run_user_id` = `owner_id` AND `parent_run_id` IS NULL)
	WHERE `owner_kind` = 'user';
