/*
 * The commit of a whole group as one statement: its rows come as JSON documents, one for each kind, and a trigger deals
 * them out. One hop to the thread pool, one implicit transaction. Every rule that a row breaks raises a constraint, which
 * undoes the statement; what was the matter is then looked up for each item (see settle.ts), so that the ordinary case
 * pays nothing for the others. Rows are dealt out as JSONB, so that reading a column parses nothing again. View and
 * trigger are temporary: they belong to the writer's connection, not to the file.
 */

/** The documents of a group, each an array of rows with the columns as listed. */
export interface HotRows {
  /** session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state, created_at, updated_at, revision, run_count */
  sessions: unknown[][]
  /** session_id, kind, owner_id, position, updated_at */
  owners: unknown[][]
  /** run_id, fence, status, completed_at, reason, error, cache_hit, usage, end_seq, sources, first and last number of events */
  ends: unknown[][]
  /** `startedRunColumns` */
  runs: unknown[][]
  /** Sessions in which a run of `runs` began and ended at once, so that its row never says that it was running. */
  instants: unknown[][]
  /** run_id, fence, at */
  begins: unknown[][]
  /** run_id, fence, first and last number of events, reserve_until */
  batches: unknown[][]
  /** run_id, seq, index, message_id, role, parts, created_at */
  messages: unknown[][]
  /** run_id, first and last number, batch */
  events: unknown[][]
  /** key, hash, expires_at, run_id */
  claims: unknown[][]
  /** session_id, updated_at, revisions more, runs more, whether state is given, state */
  touches: unknown[][]
}

const kinds = [
  'sessions',
  'owners',
  'ends',
  'runs',
  'instants',
  'begins',
  'batches',
  'messages',
  'events',
  'claims',
  'touches',
] as const satisfies (keyof HotRows)[]

export const startedRunColumns = [
  'run_id',
  'run_session_id',
  'entity_id',
  'entity_kind',
  'status',
  'run_created_at',
  'started_at',
  'completed_at',
  'cancellation_reason',
  'error',
  'cache_hit',
  'usage',
  'run_user_id',
  'run_metadata',
  'background',
  'timeout_ms',
  'truncated',
  'end_seq',
  'sources',
  'owner',
  'fence',
  'reserve_until',
  'recorded_seq',
  'start_state',
  'parent_run_id',
] as const

export function emptyRows(): HotRows {
  return {
    sessions: [],
    owners: [],
    ends: [],
    runs: [],
    instants: [],
    begins: [],
    batches: [],
    messages: [],
    events: [],
    claims: [],
    touches: [],
  }
}

export function toParams(rows: HotRows): (string | null)[] {
  return kinds.map((kind) => (rows[kind].length === 0 ? null : JSON.stringify(rows[kind])))
}

export const insertHot = `INSERT INTO hot_writes VALUES (${kinds.map(() => '?').join(', ')})`

const insert = (kind: keyof HotRows, table: string, columns: readonly string[]) =>
  `INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${columns.map((_, place) => `value ->> ${place}`).join(', ')} FROM jsonb_each(NEW.${kind});`

const orRaise = (kind: keyof HotRows) =>
  `SELECT RAISE(ABORT, '${kind}') WHERE changes() <> json_array_length(NEW.${kind});`

const isUnended = `status NOT IN ('completed', 'failed', 'cancelled')`

// An end frees its session before another start takes it.
export const createHotWrites = `
CREATE TEMP VIEW hot_writes AS SELECT ${kinds.map((kind) => `NULL AS ${kind}`).join(', ')};
CREATE TEMP TRIGGER deal_hot_writes INSTEAD OF INSERT ON hot_writes BEGIN
  ${insert('sessions', 'sessions', ['session_id', 'agent_id', 'team_id', 'workflow_id', 'user_id', 'name', 'metadata', 'state', 'created_at', 'updated_at', 'revision', 'run_count'])}
  ${insert('owners', 'session_owners', ['owner_session_id', 'owner_kind', 'owner_id', 'owner_position', 'owner_updated_at'])}
  UPDATE runs SET status = value ->> 2, completed_at = value ->> 3, cancellation_reason = value ->> 4,
      error = value ->> 5, cache_hit = value ->> 6, usage = value ->> 7, end_seq = value ->> 8, sources = value ->> 9,
      recorded_seq = ifnull(value ->> 11, recorded_seq)
    FROM jsonb_each(NEW.ends) WHERE run_id = value ->> 0 AND fence = value ->> 1 AND ${isUnended}
      AND (value ->> 10 IS NULL OR recorded_seq < value ->> 10);
  ${orRaise('ends')}
  ${insert('runs', 'runs', startedRunColumns)}
  SELECT RAISE(ABORT, 'instants') FROM jsonb_each(NEW.instants) CROSS JOIN runs
    ON run_session_id = value ->> 0 AND status = 'running' AND parent_run_id IS NULL;
  UPDATE runs SET status = 'running', started_at = value ->> 2
    FROM jsonb_each(NEW.begins) WHERE run_id = value ->> 0 AND fence = value ->> 1 AND status = 'queued'
      AND start_state IS NULL;
  ${orRaise('begins')}
  UPDATE runs SET recorded_seq = ifnull(value ->> 3, recorded_seq), reserve_until = max(reserve_until, value ->> 4)
    FROM jsonb_each(NEW.batches) WHERE run_id = value ->> 0 AND fence = value ->> 1
      AND status IN ('running', 'queued') AND (value ->> 2 IS NULL OR recorded_seq < value ->> 2);
  ${orRaise('batches')}
  ${insert('messages', 'messages', ['message_run_id', 'message_seq', 'message_index', 'message_id', 'role', 'parts', 'message_created_at'])}
  ${insert('events', 'events', ['event_run_id', 'first_seq', 'last_seq', 'batch'])}
  ${insert('claims', 'claims', ['claim_key', 'claim_hash', 'expires_at', 'claim_run_id'])}
  UPDATE sessions SET updated_at = value ->> 1, revision = revision + (value ->> 2),
      run_count = run_count + (value ->> 3), state = iif(value ->> 4, value ->> 5, state)
    FROM jsonb_each(NEW.touches) WHERE session_id = value ->> 0;
  ${orRaise('touches')}
  UPDATE session_owners SET owner_updated_at = value ->> 1
    FROM jsonb_each(NEW.touches) WHERE owner_session_id = value ->> 0;
END;`
