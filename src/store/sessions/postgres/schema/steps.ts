import { knowledgeTables } from './knowledge.ts'
import { sessionTables } from './tables.ts'
import { vectorTables } from './vectors.ts'

/**
 * The tables, as numbered steps that are never changed once released. Each is a transaction of its own, and may need all
 * steps before it, but an `expand` step no `contract` step.
 *
 * `expand`: servers that don't know it go on working; applied by the first server or command that does. `contract`: they
 * don't; applied by `storage upgrade`, or by a server that starts when no instance lives that does not know it. So what a
 * server writes and reads must suit the tables before and after a contract step.
 */
export interface Step {
  step: number
  kind: 'expand' | 'contract'
  sql: string
  /**
   * The name of an index that `sql` makes with CREATE INDEX CONCURRENTLY, and nothing else: others write to the table
   * meanwhile. It names the table as {schema}.table. For tables that may be large; who applies it waits until it is made.
   */
  index?: string
}

const facts = `
CREATE TABLE fact (
  user_id text COLLATE "C" NOT NULL,
  fact_id text COLLATE "C" NOT NULL,
  content text NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, fact_id)
);
`

const schedules = `
CREATE TABLE schedule (
  name text COLLATE "C" PRIMARY KEY,
  rule text NOT NULL,
  handled_until text COLLATE "C" NOT NULL,
  run_id text COLLATE "C",
  run_at text COLLATE "C",
  skipped_at text COLLATE "C",
  paused boolean NOT NULL
);

CREATE TABLE webhook_job (
  run_id text COLLATE "C" NOT NULL,
  webhook text COLLATE "C" NOT NULL,
  told_seq int NOT NULL,
  attempts int NOT NULL,
  fence int NOT NULL,
  due_at text COLLATE "C",
  created_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (run_id, webhook)
);
CREATE INDEX webhook_job_due ON webhook_job (due_at) WHERE due_at IS NOT NULL;
`

const audit = `
CREATE TABLE audit_entry (
  at text COLLATE "C" NOT NULL,
  entry_id text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  caller text COLLATE "C" NOT NULL,
  user_id text COLLATE "C",
  object_kind text COLLATE "C",
  object_id text COLLATE "C",
  outcome text COLLATE "C",
  request_id text COLLATE "C",
  server_id text COLLATE "C" NOT NULL,
  detail jsonb,
  PRIMARY KEY (at, entry_id)
);
CREATE INDEX audit_entry_by_caller ON audit_entry (caller);
CREATE INDEX audit_entry_by_user ON audit_entry (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_entry_by_object ON audit_entry (object_id) WHERE object_id IS NOT NULL;
`

export const steps: readonly Step[] = [
  { step: 1, kind: 'expand', sql: sessionTables },
  { step: 2, kind: 'expand', sql: facts },
  { step: 3, kind: 'expand', sql: schedules },
  { step: 4, kind: 'expand', sql: knowledgeTables },
  { step: 5, kind: 'expand', sql: vectorTables },
  { step: 6, kind: 'expand', sql: audit },
]
