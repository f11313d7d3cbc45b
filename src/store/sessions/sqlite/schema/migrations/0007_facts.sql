CREATE TABLE `facts` (
	`fact_user_id` text NOT NULL,
	`fact_id` text NOT NULL,
	`fact_content` text NOT NULL,
	`fact_agent_id` text NOT NULL,
	`fact_run_id` text NOT NULL,
	`fact_created_at` text NOT NULL,
	PRIMARY KEY(`fact_user_id`, `fact_id`)
) WITHOUT ROWID;
