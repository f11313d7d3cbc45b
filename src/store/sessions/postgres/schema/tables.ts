/*
 * JSON is `text`: Postgres parses nothing, and keeps the order of keys and every character that JSON can escape. Columns of
 * their own are for what statements filter by. Rows of `run` and `event` have no foreign keys: each would cost a run a probe.
 * Collation "C" orders as SQLite does.
 */
export const sessionTables = `
CREATE TABLE instance (
  instance_key int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner text COLLATE "C" NOT NULL UNIQUE,
  role text NOT NULL DEFAULT 'server',
  beat bigint NOT NULL DEFAULT 0,
  address text,
  app_version text NOT NULL DEFAULT '',
  entities text NOT NULL DEFAULT '[]',
  dead_after_ms int NOT NULL DEFAULT 15000,
  schema_known int NOT NULL DEFAULT 0,
  joined_at timestamptz,
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  dead_at timestamptz,
  left_at timestamptz
) WITH (fillfactor = 50);

CREATE TABLE session (
  session_id text COLLATE "C" PRIMARY KEY,
  agent_id text COLLATE "C",
  team_id text COLLATE "C",
  workflow_id text COLLATE "C",
  user_id text COLLATE "C",
  name text,
  metadata text,
  state text,
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  revision int NOT NULL,
  run_count int NOT NULL,
  birth bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX session_by_update ON session (updated_at, session_id);
CREATE INDEX session_by_agent ON session (agent_id, updated_at, session_id) WHERE agent_id IS NOT NULL;
CREATE INDEX session_by_team ON session (team_id, updated_at, session_id) WHERE team_id IS NOT NULL;
CREATE INDEX session_by_workflow ON session (workflow_id, updated_at, session_id) WHERE workflow_id IS NOT NULL;
CREATE INDEX session_by_user ON session (user_id, updated_at, session_id) WHERE user_id IS NOT NULL;

CREATE TABLE session_usage (
  session_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  runs bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cached_input_runs bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  cache_write_runs bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  reasoning_runs bigint NOT NULL,
  unreported_calls bigint NOT NULL,
  largest_input_tokens bigint,
  PRIMARY KEY (session_id, model)
) WITH (fillfactor = 85);

CREATE TABLE session_owner (
  session_id text COLLATE "C" NOT NULL REFERENCES session ON DELETE CASCADE,
  kind text COLLATE "C" NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  position int NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  read_until bigint,
  PRIMARY KEY (session_id, kind, owner_id)
);
CREATE INDEX session_owner_by_update ON session_owner (kind, owner_id, updated_at, session_id);

CREATE TABLE run (
  run_number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL UNIQUE,
  session_id text COLLATE "C" NOT NULL,
  entity_id text COLLATE "C" NOT NULL,
  entity_kind text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  user_id text COLLATE "C",
  parent_run_id text COLLATE "C",
  is_try boolean NOT NULL DEFAULT false,
  background boolean NOT NULL DEFAULT false,
  unchecked boolean NOT NULL DEFAULT false,
  truncated boolean NOT NULL DEFAULT false,
  owner int NOT NULL,
  fence int NOT NULL,
  reserve_until int NOT NULL,
  recorded_seq int NOT NULL,
  end_seq int,
  started_at text COLLATE "C",
  cancel_reason text,
  start_state text,
  begun text NOT NULL,
  ended text,
  input text NOT NULL,
  output text,
  last_batch text,
  given text,
  replaced_by text COLLATE "C",
  follows text COLLATE "C",
  state_before text,
  replaced_state text
) WITH (fillfactor = 70, toast_tuple_target = 1024, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.1);
CREATE UNIQUE INDEX run_one_running ON run (session_id) WHERE status = 'running' AND parent_run_id IS NULL;
CREATE INDEX run_queued ON run (session_id, run_number) WHERE status = 'queued';
CREATE INDEX run_alive ON run (owner, run_number) WHERE status IN ('running', 'queued');
CREATE INDEX run_to_cancel ON run (owner) WHERE cancel_reason IS NOT NULL;
CREATE INDEX run_by_session ON run (session_id, run_number);
CREATE INDEX run_by_entity ON run (entity_id, run_number);
CREATE INDEX run_by_status ON run (status, run_number) WHERE status NOT IN ('completed', 'running', 'queued');
CREATE INDEX run_by_user ON run (user_id, run_number) WHERE user_id IS NOT NULL;
CREATE INDEX run_by_parent ON run (parent_run_id, run_number) WHERE parent_run_id IS NOT NULL;
CREATE INDEX run_by_replacement ON run (replaced_by, run_number) WHERE replaced_by IS NOT NULL;

CREATE TABLE event (
  run_number bigint NOT NULL,
  first_seq int NOT NULL,
  batch text NOT NULL,
  PRIMARY KEY (run_number, first_seq)
);

CREATE TABLE claim (
  claim_key text COLLATE "C" PRIMARY KEY,
  hash text NOT NULL,
  expires_at text COLLATE "C" NOT NULL,
  run_id text COLLATE "C",
  answer text,
  owner int NOT NULL
);
CREATE INDEX claim_by_expiry ON claim (expires_at);
CREATE INDEX claim_by_run ON claim (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX claim_at_work ON claim (owner) WHERE run_id IS NULL AND answer IS NULL;

CREATE TABLE summary (
  session_id text COLLATE "C" PRIMARY KEY REFERENCES session ON DELETE CASCADE,
  content text NOT NULL,
  model text NOT NULL,
  run_count int NOT NULL,
  message_count int NOT NULL,
  created_at text COLLATE "C" NOT NULL
);

CREATE TABLE summary_job (
  session_id text COLLATE "C" PRIMARY KEY REFERENCES session ON DELETE CASCADE,
  scheduled_at text COLLATE "C" NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  owner int
);
CREATE INDEX summary_job_by_time ON summary_job (scheduled_at);

CREATE TABLE cached_answer (
  answer_key text COLLATE "C" PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C" NOT NULL
);
CREATE INDEX cached_answer_by_run ON cached_answer (run_id);
CREATE INDEX cached_answer_by_expiry ON cached_answer (expires_at);

CREATE TABLE push_config (
  run_id text COLLATE "C" NOT NULL,
  config_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  token text,
  authentication text,
  version text NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  owner int NOT NULL,
  fence int NOT NULL,
  failures int NOT NULL,
  unsent boolean NOT NULL,
  PRIMARY KEY (run_id, config_id)
);
CREATE INDEX push_config_unsent ON push_config (owner) WHERE unsent;

CREATE TABLE file (
  session_id text COLLATE "C" NOT NULL,
  file_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  media_type text NOT NULL,
  name text,
  size bigint NOT NULL,
  url text,
  owner int,
  saved_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, file_id)
);
CREATE INDEX file_by_hash ON file (hash);
CREATE INDEX file_by_run ON file (run_id);
CREATE INDEX file_unsettled ON file (owner, saved_at) WHERE owner IS NOT NULL;

CREATE TABLE file_content (
  hash text COLLATE "C" NOT NULL,
  piece int NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (hash, piece)
);
ALTER TABLE file_content ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE unused_content (
  hash text COLLATE "C" NOT NULL
);

CREATE TABLE run_words (
  run_number bigint PRIMARY KEY,
  words tsvector NOT NULL,
  look text COLLATE "C"
);
CREATE INDEX run_words_by_word ON run_words USING gin (words);
CREATE INDEX run_words_open ON run_words (run_number) WHERE look IS NOT NULL;

CREATE TABLE search_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  complete_until bigint NOT NULL DEFAULT 0,
  mark_until bigint NOT NULL DEFAULT 0,
  mark_xid xid8 NOT NULL,
  mark_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
`
