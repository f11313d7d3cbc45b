import type { RunStatus } from '../../../../core/run.ts'
import { stringifyLarge } from '../../../../runtime/json.ts'
import { startReserve } from '../../../rules/run-rules.ts'
import type { UsageRow } from '../../../rules/usage-rows.ts'
import { namesOf, sessionColumns, startedRunColumns, type ValuesOf } from '../schema/columns.ts'
import { runs, sessions } from '../schema/schema.ts'
import { addToSums } from './usage.ts'

/**
 * Commits a whole batch as one statement: its rows come as JSON documents, one per kind, and a trigger distributes
 * them. That takes one trip to the thread pool and one implicit transaction. A row that breaks a rule raises a
 * constraint, which undoes the statement; then each item is written by itself (see single-write.ts), so the usual case
 * has no extra cost. Rows are distributed as JSONB, so that no column is parsed again. View and trigger are temporary:
 * they belong to the writer's connection, not to the file.
 */

type EventColumns = [firstSeq: number | null, lastSeq: number | null]

/** The documents of a batch, each an array of rows. */
export interface BatchRows {
  sessions: ValuesOf<typeof sessions.$inferSelect, typeof sessionColumns>[]
  ends: [
    runId: string,
    fence: number | null,
    status: RunStatus,
    ended: string,
    output: string | null,
    ...EventColumns,
    batch: string | null,
    isInputChecked: 0 | 1,
  ][]
  runs: [...ValuesOf<typeof runs.$inferSelect, typeof startedRunColumns>, takesUser: 0 | 1][]
  /** Sessions of runs that began and ended in one batch: their rows never say that they were running. */
  instants: [sessionId: string][]
  begins: [runId: string, fence: number, at: string][]
  batches: [
    runId: string,
    fence: number,
    ...EventColumns,
    reserveUntil: number,
    batch: string | null,
    isInputChecked: 0 | 1,
  ][]
  /** Parts of large batches. The run or batch itself holds the first or the last part. */
  parts: [runId: string, firstSeq: number, part: string][]
  claims: [key: string][]
  /** What ended runs used, by run. Only that of turns is kept. */
  usage: UsageRow[]
  /** Runs that change their session's state for the first time. Its state is given, or in the row of the session. */
  changes: [runId: string, sessionId: string, isKnown: 0 | 1, state: string | null][]
  touches: [
    sessionId: string,
    updatedAt: string,
    revisions: number,
    runs: number,
    hasState: 0 | 1,
    state: string | null,
  ][]
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
  'usage',
  'changes',
  'touches',
] as const satisfies (keyof BatchRows)[]

export function emptyRows(): BatchRows {
  return {
    sessions: [],
    ends: [],
    runs: [],
    instants: [],
    begins: [],
    batches: [],
    parts: [],
    claims: [],
    usage: [],
    changes: [],
    touches: [],
  }
}

export function toParams(rows: BatchRows): (string | null)[] {
  return kinds.map((kind) => (rows[kind].length === 0 ? null : JSON.stringify(rows[kind])))
}

/** `toParams` for megabytes; yields to the event loop. */
export async function toLargeParams(rows: BatchRows): Promise<(string | null)[]> {
  const params: (string | null)[] = []
  for (const kind of kinds) params.push(rows[kind].length === 0 ? null : await stringifyLarge(rows[kind]))
  return params
}

export const insertBatch = `INSERT INTO hot_writes VALUES (${kinds.map(() => '?').join(', ')})`

const values = (columns: readonly unknown[]) => columns.map((_, index) => `value ->> ${index}`).join(', ')

/** A run without a user gets that of a session that exists. */
const startedValues = startedRunColumns
  .map((column, place) =>
    column === 'userId'
      ? `iif(value ->> ${startedRunColumns.length}, (SELECT user_id FROM sessions
          WHERE session_id = value ->> ${startedRunColumns.indexOf('sessionId')}), value ->> ${place})`
      : `value ->> ${place}`,
  )
  .join(', ')

const orRaise = (kind: keyof BatchRows) =>
  `SELECT RAISE(ABORT, '${kind}') WHERE changes() <> json_array_length(NEW.${kind});`

// Removes the mark after the fields of the message.
const checkedInput = (place: number) => `iif(value ->> ${place}, json_remove(input, '$[0][4]'), input)`

const isUnended = `status NOT IN ('completed', 'failed', 'cancelled')`

// An end frees its session before another start takes it. A paused run's content is merged with later content one run
// at a time.
export const createHotWrites = `
CREATE TEMP VIEW hot_writes AS SELECT ${kinds.map((kind) => `NULL AS ${kind}`).join(', ')};
CREATE TEMP TRIGGER deal_hot_writes INSTEAD OF INSERT ON hot_writes BEGIN
  INSERT INTO sessions (${namesOf(sessions, sessionColumns).join(', ')})
    SELECT ${values(sessionColumns)} FROM jsonb_each(NEW.sessions);
  UPDATE runs SET status = value ->> 2, ended = value ->> 3, output = value ->> 4,
      recorded_seq = ifnull(value ->> 6, recorded_seq), last_batch = value ->> 7, input = ${checkedInput(8)}
    FROM jsonb_each(NEW.ends) WHERE run_id = value ->> 0 AND fence = value ->> 1 AND ${isUnended} AND ended IS NULL
      AND (value ->> 5 IS NULL OR recorded_seq < value ->> 5);
  ${orRaise('ends')}
  SELECT RAISE(ABORT, 'claims') FROM jsonb_each(NEW.claims) CROSS JOIN claims ON claim_key = value ->> 0;
  INSERT INTO runs (fence, reserve_until, ${namesOf(runs, startedRunColumns).join(', ')})
    SELECT 1, ${startReserve}, ${startedValues} FROM jsonb_each(NEW.runs);
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
  ${addToSums(
    'run_session_id',
    'FROM jsonb_each(NEW.usage) CROSS JOIN runs ON run_id = value ->> 0 WHERE parent_run_id IS NULL',
  )};
  UPDATE runs SET state_before = ifnull(iif(value ->> 2, value ->> 3,
      (SELECT state FROM sessions WHERE session_id = value ->> 1)), 'null')
    FROM jsonb_each(NEW.changes) WHERE run_id = value ->> 0 AND state_before IS NULL;
  UPDATE sessions SET updated_at = value ->> 1, revision = revision + (value ->> 2),
      run_count = run_count + (value ->> 3), state = iif(value ->> 4, value ->> 5, state)
    FROM jsonb_each(NEW.touches) WHERE session_id = value ->> 0;
  ${orRaise('touches')}
  UPDATE session_owners SET owner_updated_at = value ->> 1
    FROM jsonb_each(NEW.touches) WHERE owner_session_id = value ->> 0;
END;`
