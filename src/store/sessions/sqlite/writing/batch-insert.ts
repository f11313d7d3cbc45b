import { jsonInTurns } from '../../../../runtime/json-pieces.ts'
import { startReserve } from '../../../rules/run-rules.ts'

/*
 * The commit of a whole group as one statement: its rows come as JSON documents, one for each kind, and a trigger deals
 * them out. One hop to the thread pool, one implicit transaction. Every rule that a row breaks raises a constraint, which
 * undoes the statement; what was the matter is then looked up for each item (see writeSingly.ts), so that the ordinary case
 * pays nothing for the others. Rows are dealt out as JSONB, so that reading a column parses nothing again. View and
 * trigger are temporary: they belong to the writer's connection, not to the file.
 */

/** The documents of a group, each an array of rows with the columns as listed. */
export interface BatchRows {
  /** session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state, created_at, updated_at, revision, run_count */
  sessions: unknown[][]
  /** run_id, fence, status, ended, output, first and last number of events, batch, whether the input is checked */
  ends: unknown[][]
  /** `startedRunColumns` */
  runs: unknown[][]
  /** Sessions in which a run of `runs` began and ended at once, so that its row never says that it was running. */
  instants: unknown[][]
  /** run_id, fence, at */
  begins: unknown[][]
  /** run_id, fence, first and last number of events, reserve_until, batch, whether the input is checked */
  batches: unknown[][]
  /** Parts of large batches, the first or the last of which is with its run or batch: run_id, first number, part */
  parts: unknown[][]
  /** Idempotency keys of `runs`. */
  claims: unknown[][]
  /** session_id, updated_at, revisions more, runs more, whether state is given, state */
  touches: unknown[][]
}

const kinds = [
  'sessions',
  'ends',
  'runs',
  'instants',
  'begins',
  'batches',
  'parts',
  'claims',
  'touches',
] as const satisfies (keyof BatchRows)[]

export const startedRunColumns = [
  'run_id',
  'run_session_id',
  'entity_id',
  'status',
  'run_user_id',
  'parent_run_id',
  'truncated',
  'owner',
  'recorded_seq',
  'run_claim_key',
  'run_claim_hash',
  'run_claim_expires_at',
  'start_state',
  'begun',
  'ended',
  'input',
  'output',
  'last_batch',
] as const

const sessionColumns = [
  'session_id',
  'agent_id',
  'team_id',
  'workflow_id',
  'user_id',
  'name',
  'metadata',
  'state',
  'created_at',
  'updated_at',
  'revision',
  'run_count',
]

export function emptyRows(): BatchRows {
  return { sessions: [], ends: [], runs: [], instants: [], begins: [], batches: [], parts: [], claims: [], touches: [] }
}

export function toParams(rows: BatchRows): (string | null)[] {
  return kinds.map((kind) => (rows[kind].length === 0 ? null : JSON.stringify(rows[kind])))
}

/** The same in several turns of the event loop, for megabytes. */
export async function toParamsInTurns(rows: BatchRows): Promise<(string | null)[]> {
  const params: (string | null)[] = []
  for (const kind of kinds) params.push(rows[kind].length === 0 ? null : await jsonInTurns(rows[kind]))
  return params
}

export const insertBatch = `INSERT INTO hot_writes VALUES (${kinds.map(() => '?').join(', ')})`

const values = (columns: readonly string[]) => columns.map((_, place) => `value ->> ${place}`).join(', ')

const orRaise = (kind: keyof BatchRows) =>
  `SELECT RAISE(ABORT, '${kind}') WHERE changes() <> json_array_length(NEW.${kind});`

// The mark behind the fields of the message goes.
const checkedInput = (place: number) => `iif(value ->> ${place}, json_remove(input, '$[0][4]'), input)`

const isUnended = `status NOT IN ('completed', 'failed', 'cancelled')`

// An end frees its session before another start takes it. What a paused run has is joined with more one by one.
export const createHotWrites = `
CREATE TEMP VIEW hot_writes AS SELECT ${kinds.map((kind) => `NULL AS ${kind}`).join(', ')};
CREATE TEMP TRIGGER deal_hot_writes INSTEAD OF INSERT ON hot_writes BEGIN
  INSERT INTO sessions (${sessionColumns.join(', ')})
    SELECT ${values(sessionColumns)} FROM jsonb_each(NEW.sessions);
  UPDATE runs SET status = value ->> 2, ended = value ->> 3, output = value ->> 4,
      recorded_seq = ifnull(value ->> 6, recorded_seq), last_batch = value ->> 7, input = ${checkedInput(8)}
    FROM jsonb_each(NEW.ends) WHERE run_id = value ->> 0 AND fence = value ->> 1 AND ${isUnended} AND ended IS NULL
      AND (value ->> 5 IS NULL OR recorded_seq < value ->> 5);
  ${orRaise('ends')}
  SELECT RAISE(ABORT, 'claims') FROM jsonb_each(NEW.claims) CROSS JOIN claims ON claim_key = value ->> 0;
  INSERT INTO runs (fence, reserve_until, ${startedRunColumns.join(', ')})
    SELECT 1, ${startReserve}, ${values(startedRunColumns)} FROM jsonb_each(NEW.runs);
  SELECT RAISE(ABORT, 'instants') FROM jsonb_each(NEW.instants) CROSS JOIN runs
    ON run_session_id = value ->> 0 AND status = 'running' AND parent_run_id IS NULL;
  UPDATE runs SET status = 'running', begun = json_set(begun, '$.started_at', value ->> 2)
    FROM jsonb_each(NEW.begins) WHERE run_id = value ->> 0 AND fence = value ->> 1 AND status = 'queued'
      AND start_state IS NULL;
  ${orRaise('begins')}
  UPDATE runs SET recorded_seq = ifnull(value ->> 3, recorded_seq), reserve_until = max(reserve_until, value ->> 4),
      input = ${checkedInput(6)}
    FROM jsonb_each(NEW.batches) WHERE run_id = value ->> 0 AND fence = value ->> 1
      AND status IN ('running', 'queued') AND (value ->> 2 IS NULL OR recorded_seq < value ->> 2);
  ${orRaise('batches')}
  INSERT INTO events (event_run_number, first_seq, batch)
    SELECT run_number, value ->> 2, value ->> 5 FROM jsonb_each(NEW.batches) CROSS JOIN runs
      ON run_id = value ->> 0 WHERE value ->> 2 IS NOT NULL;
  INSERT INTO events (event_run_number, first_seq, batch)
    SELECT run_number, value ->> 1, value ->> 2 FROM jsonb_each(NEW.parts) CROSS JOIN runs ON run_id = value ->> 0;
  UPDATE sessions SET updated_at = value ->> 1, revision = revision + (value ->> 2),
      run_count = run_count + (value ->> 3), state = iif(value ->> 4, value ->> 5, state)
    FROM jsonb_each(NEW.touches) WHERE session_id = value ->> 0;
  ${orRaise('touches')}
  UPDATE session_owners SET owner_updated_at = value ->> 1
    FROM jsonb_each(NEW.touches) WHERE owner_session_id = value ->> 0;
END;`
