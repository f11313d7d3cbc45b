import { pause } from '../../../../runtime/abort.ts'
import type { Connection, Sql } from '../../../postgres/connection.ts'
import {
  type AppliedStep,
  appliedSteps,
  assertUsable,
  missingSteps,
  type OlderInstance,
  olderInstances,
} from './applied.ts'
import { withSchemaLock } from './lock.ts'
import { indexText, recordOf, versions } from './script.ts'
import { type Step, steps } from './steps.ts'

/** Who waits for a lock of a table makes all wait who come after. */
const lockMs = 2_000
const attempts = 6
const longestPauseMs = 4_000

export interface SchemaOptions {
  schema: string
  /** What this version knows; default: all. */
  known?: readonly Step[] | undefined
  /** Also the contract steps that no living instance minds. */
  contracts: boolean
  /** Opens a connection beside the one that has the lock; its statements take as long as they need. */
  another: () => Promise<Connection>
}

export interface Prepared {
  /** Steps that were applied, in this order. */
  applied: number[]
  /** Contract steps that are still to be applied. `older`: the instances that mind the first of them, if that was asked. */
  waiting: number[]
  older: OlderInstance[]
}

type Found = { apply: Step } | { waiting: Step[]; older: OlderInstance[] }

/**
 * Applies the steps that are missing, one transaction each, while other servers work and those that start wait. Throws
 * `unavailable` when a newer version has changed the tables in a way that this one can't work with, and what the database
 * throws, such as when the role may not create tables. What was applied before stays.
 */
export async function prepareSchema(connection: Connection, options: SchemaOptions): Promise<Prepared> {
  const { schema, known = steps } = options
  const there = await connection.alone((sql) => appliedSteps(sql, schema))
  if (there !== undefined && isComplete(known, there)) return { applied: [], waiting: [], older: [] }
  const applied: number[] = []
  for (;;) {
    const found = await withPatience(() =>
      withSchemaLock(connection, schema, (sql) => applyNext(connection, sql, options)),
    )
    if ('waiting' in found) return { applied, waiting: found.waiting.map(({ step }) => step), older: found.older }
    applied.push(found.apply.step)
  }
}

/** Throws like `prepareSchema`. */
function isComplete(known: readonly Step[], applied: readonly AppliedStep[]): boolean {
  assertUsable(known, applied)
  const { expand, contract } = missingSteps(known, applied)
  return expand.length + contract.length === 0
}

async function applyNext(connection: Connection, sql: Sql, options: SchemaOptions): Promise<Found> {
  const found = await findNext(connection, sql, options)
  if (!('apply' in found)) return found
  const { apply: step } = found
  if (step.index === undefined) {
    await connection.exec(`SET LOCAL lock_timeout = '${lockMs}'`)
    await connection.exec(step.sql)
  } else {
    // Nothing is under way in this transaction meanwhile.
    await connection.exec('SET LOCAL idle_in_transaction_session_timeout = 0')
    await makeIndex(options, step.index, step.sql)
  }
  await connection.exec(recordOf(step))
  return found
}

async function findNext(connection: Connection, sql: Sql, options: SchemaOptions): Promise<Found> {
  const { schema, known = steps, contracts } = options
  const there = await appliedSteps(sql, schema)
  if (there === undefined) await connection.exec(`CREATE SCHEMA IF NOT EXISTS "${schema}"; ${versions}`)
  const applied = there ?? []
  assertUsable(known, applied)
  const { expand, contract } = missingSteps(known, applied)
  const [first] = expand
  if (first !== undefined) return { apply: first }
  const [next] = contract
  if (next === undefined || !contracts) return { waiting: contract, older: [] }
  const older = await olderInstances(sql, next.step)
  return older.length === 0 ? { apply: next } : { waiting: contract, older }
}

/** A lock that came too late is asked for again: meanwhile others go on. */
async function withPatience<T>(work: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: unknown }).code !== '55P03' || made === attempts) throw error
      await pause(Math.min(longestPauseMs, 250 * 2 ** made))
    }
  }
}

/** One that broke while it was made is there, but of no use, and is made anew. */
async function makeIndex({ schema, another }: SchemaOptions, name: string, text: string): Promise<void> {
  const connection = await another()
  try {
    const [found] = await connection.all<{ valid: boolean }>(
      `SELECT indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = $2`,
      [schema, name],
    )
    if (found?.valid === true) return
    if (found !== undefined) await connection.exec(`DROP INDEX CONCURRENTLY "${schema}"."${name}"`)
    await connection.exec(indexText(schema, text))
  } finally {
    await connection.close()
  }
}
