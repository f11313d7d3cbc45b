import type { Connection } from '../../../postgres/connection.ts'
import { appliedSteps, missingSteps, newestOf, strangeStep } from '../schema/applied.ts'
import { steps as allSteps, type Step } from '../schema/steps.ts'
import { type DatabaseOptions, withDatabase } from './database.ts'

export interface DatabaseStatus {
  /** Of Postgres, such as `18.1`. */
  version: string
  /** What this connection is. */
  role: string
  schema: SchemaStatus
  instances: InstanceStatus[]
  tables: TableStatus[]
}

export interface SchemaStatus {
  name: string
  /** The newest step of the tables; null: there are none. */
  applied: number | null
  /** The newest step of this version. */
  known: number
  /** How many steps a server would apply when it starts. */
  missing: number
  /** Contract steps that are still to be applied: see `storage upgrade`. */
  waiting: number[]
  /** A step of a newer version, after which this one can't work with the tables. */
  strange: number | null
}

export interface InstanceStatus {
  key: number
  owner: string
  role: 'server' | 'guest'
  version: string
  address: string | null
  /** Its newest step. */
  schema_known: number
  state: 'alive' | 'dead' | 'left'
  joined_at: string
  /** Since its last sign of life, by the clock of the database. */
  beat_age_seconds: number
  running: number
  queued: number
}

export interface TableStatus {
  name: string
  /** As the database estimates; null when it has not counted yet. */
  rows: number | null
  /** With its indexes. */
  bytes: number
}

export function readStatus(options: DatabaseOptions, known?: readonly Step[]): Promise<DatabaseStatus> {
  return withDatabase(options, (connection) => statusOf(connection, options.schema, known))
}

export async function statusOf(
  connection: Connection,
  name: string,
  known: readonly Step[] = allSteps,
): Promise<DatabaseStatus> {
  const [server] = await connection.alone((sql) =>
    sql.all<{ version: string; role: string }>(
      `SELECT split_part(current_setting('server_version'), ' ', 1) AS version, current_user AS role`,
    ),
  )
  const found = await connection.alone((sql) => appliedSteps(sql, name))
  const { expand, contract } = missingSteps(known, found)
  const schema: SchemaStatus = {
    name,
    applied: found === undefined ? null : newestOf(found),
    known: newestOf(known),
    missing: found === undefined ? known.length : expand.length,
    waiting: found === undefined ? [] : contract.map(({ step }) => step),
    strange: strangeStep(known, found)?.step ?? null,
  }
  return {
    version: server?.version ?? '',
    role: server?.role ?? '',
    schema,
    instances: found === undefined || schema.applied === 0 ? [] : await readInstances(connection),
    tables: found === undefined ? [] : await readTables(connection, name),
  }
}

/** Those that are alive, and those that still have runs or went in the last hour. */
function readInstances(connection: Connection): Promise<InstanceStatus[]> {
  return connection.alone((sql) =>
    sql.all<InstanceStatus>(`
      SELECT instance_key AS key, owner, role, app_version AS version, address, schema_known, state, joined_at, beat_age_seconds,
        coalesce(running, 0) AS running, coalesce(queued, 0) AS queued
      FROM (
        SELECT instance_key, owner, role, app_version, address, schema_known, coalesce(dead_at, left_at) AS gone_at,
          CASE WHEN dead_at IS NOT NULL THEN 'dead' WHEN left_at IS NOT NULL THEN 'left' ELSE 'alive' END AS state,
          to_char(joined_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS joined_at,
          round(extract(epoch FROM clock_timestamp() - beat_at), 1)::float8 AS beat_age_seconds
        FROM instance WHERE joined_at IS NOT NULL) AS known
      LEFT JOIN (
        SELECT owner AS instance_key, count(*) FILTER (WHERE status = 'running') AS running,
          count(*) FILTER (WHERE status = 'queued') AS queued
        FROM run WHERE status IN ('running', 'queued') GROUP BY owner) AS work USING (instance_key)
      WHERE gone_at IS NULL OR gone_at > now() - interval '1 hour' OR running > 0 OR queued > 0
      ORDER BY state, instance_key LIMIT 1000`),
  )
}

function readTables(connection: Connection, schema: string): Promise<TableStatus[]> {
  return connection.alone((sql) =>
    sql.all<TableStatus>(
      `SELECT relname AS name, CASE WHEN reltuples < 0 THEN NULL ELSE reltuples::bigint END AS rows,
         pg_total_relation_size(pg_class.oid) AS bytes
       FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE nspname = $1 AND relkind = 'r' ORDER BY bytes DESC, name`,
      [schema],
    ),
  )
}
