import { AppError } from '../../../../core/error.ts'
import type { Connection, Sql } from '../../../postgres/connection.ts'
import { inTransaction } from '../../../postgres/transaction.ts'
import { newestStep, type Step, steps } from './steps.ts'

const oldestVersion = 150_000

const versions = `CREATE TABLE IF NOT EXISTS schema_version (step int PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('expand', 'contract')), at timestamptz NOT NULL DEFAULT now())`

/** Everything that `prepareSchema` would execute in an empty database, for a role that may. */
export function schemaScript(schema: string, wanted: readonly Step[] = steps): string {
  const lines = wanted.map(
    ({ step, kind, sql }) => `${sql.trim()}\nINSERT INTO schema_version (step, kind) VALUES (${step}, '${kind}');`,
  )
  return [
    `CREATE SCHEMA IF NOT EXISTS "${schema}";`,
    `SET search_path = "${schema}";`,
    'BEGIN;',
    `${versions};`,
    ...lines,
    'COMMIT;',
    '',
  ].join('\n')
}

/** Throws `unavailable` for a database that can't be used, and an error of the database's own kind for a standby. */
export async function checkDatabase(connection: Connection): Promise<void> {
  const [row] = await connection.all<{
    number: string
    version: string
    encoding: string
    sync: string
    reads: string
  }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS sync,
       current_setting('transaction_read_only') AS reads`,
  )
  if (Number(row?.number) < oldestVersion)
    throw unusable(`Postgres ${row?.version} is too old. Use version 15 or newer.`)
  // As a statement that writes would be refused. A failover may be under way.
  if (row?.reads === 'on') throw Object.assign(new Error('The database takes no writes.'), { code: '25006' })
  if (row?.encoding !== 'UTF8') throw unusable(`The database has the encoding ${row?.encoding}. Use one with UTF8.`)
  if (row.sync === 'off' || row.sync === 'local') {
    throw unusable(
      `synchronous_commit is '${row.sync}' for this role, so acknowledged runs could be lost. Set it to 'on'.`,
    )
  }
}

/**
 * Applies the steps that are missing, while other servers wait. Throws `unavailable` when a newer version has changed the
 * tables in a way that this one can't work with, or when the role may not create tables.
 */
export async function prepareSchema(connection: Connection, schema: string): Promise<void> {
  const known = await connection.alone((sql) => appliedSteps(sql, schema))
  if (known !== undefined && isUsable(known)) return
  await inTransaction(connection, async (sql) => {
    // Servers that start together wait here: IF NOT EXISTS alone is not safe against each other.
    await sql.all(`SELECT pg_advisory_xact_lock(hashtext($1))`, [`agentserve:${schema}`])
    const there = await appliedSteps(sql, schema)
    if (there === undefined) await connection.exec(`CREATE SCHEMA IF NOT EXISTS "${schema}"; ${versions}`)
    const applied = there ?? []
    if (isUsable(applied)) return
    for (const one of steps) {
      if (applied.some(({ step }) => step === one.step)) continue
      await connection.exec(one.sql)
      await sql.run('INSERT INTO schema_version (step, kind) VALUES ($1, $2)', [one.step, one.kind])
    }
  })
}

export type AppliedStep = Pick<Step, 'step' | 'kind'>

/** Undefined: there are no tables yet. */
export async function appliedSteps(sql: Sql, schema: string): Promise<AppliedStep[] | undefined> {
  // Not to_regclass: what it knows of names may be older than the lock that the caller waited for.
  const found = await sql.all(
    `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relname = 'schema_version'`,
    [schema],
  )
  if (found.length === 0) return undefined
  return sql.all<AppliedStep>('SELECT step, kind FROM schema_version ORDER BY step')
}

/** Whether nothing has to be applied. */
function isUsable(applied: readonly AppliedStep[]): boolean {
  const strange = applied.find(({ step, kind }) => step > newestStep && kind === 'contract')
  if (strange !== undefined) {
    throw unusable(
      `The tables have version ${strange.step}, and this server knows ${newestStep}. Install a newer agentserve.`,
    )
  }
  return steps.every(({ step }) => applied.some((one) => one.step === step))
}

function unusable(message: string): AppError {
  return new AppError('unavailable', message)
}
