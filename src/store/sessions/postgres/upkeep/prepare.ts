import { pause } from '../../../../runtime/abort.ts'
import type { Connection } from '../../../postgres/connection.ts'
import type { Pools } from '../../../postgres/pools.ts'
import { appliedSteps, assertUsable, missingSteps, newestOf, type OlderInstance } from '../schema/applied.ts'
import { checkDatabase } from '../schema/database.ts'
import { isAlive } from '../schema/instances.ts'
import { prepareOn } from '../schema/open.ts'
import { schemaScript } from '../schema/script.ts'
import { steps as allSteps, type Step } from '../schema/steps.ts'
import { type DatabaseOptions, withDatabase } from './database.ts'

export interface Prepared {
  /** The newest step of the tables. */
  step: number
  /** How many steps were applied. */
  applied: number
  /** Contract steps that are still to be applied. */
  waiting: number[]
  /** The living instances for which they wait. */
  older: Pick<OlderInstance, 'owner' | 'version' | 'address' | 'knows'>[]
}

interface Context {
  connection: Connection
  pools: Pools
  steps: readonly Step[]
}

/** A step may rewrite a large table. */
const unlimited = {}
const pollMs = 500

/** Makes what is missing of the tables, so that older servers go on working. Servers do the same when they start, if their role may. */
export function prepareDatabase(options: DatabaseOptions, steps: readonly Step[] = allSteps): Promise<Prepared> {
  return preparing(options, steps, (context) => apply(context, false))
}

/**
 * Applies contract steps too, unless an instance lives that does not know them. One that is silent for as long as it says is
 * declared dead, as other servers would do; that takes a while.
 */
export function upgradeDatabase(
  options: DatabaseOptions,
  signal: AbortSignal,
  steps: readonly Step[] = allSteps,
): Promise<Prepared> {
  return preparing(options, steps, async (context) => {
    let done = 0
    for (;;) {
      const prepared = await apply(context, true)
      done += prepared.applied
      if (prepared.older.length === 0 || !(await buryAll(context, prepared.older, signal)))
        return { ...prepared, applied: done }
    }
  })
}

interface Applied extends Prepared {
  older: OlderInstance[]
}

async function apply({ connection, pools, steps }: Context, contracts: boolean): Promise<Applied> {
  const { applied, waiting, older } = await prepareOn(connection, pools, { steps, contracts })
  const there = await connection.alone((sql) => appliedSteps(sql, pools.options.schema))
  return { step: newestOf(there ?? []), applied: applied.length, waiting, older }
}

async function preparing(
  options: DatabaseOptions,
  steps: readonly Step[],
  work: (context: Context) => Promise<Applied>,
): Promise<Prepared> {
  const use = async (connection: Connection, pools: Pools) => {
    await checkDatabase(connection)
    return work({ connection, pools, steps })
  }
  const { older, ...prepared } = await withDatabase(options, use, unlimited)
  return {
    ...prepared,
    older: older.map(({ owner, version, address, knows }) => ({ owner, version, address, knows })),
  }
}

// As long as the beat is the same, it has not been alive in between.
const updateDead = `UPDATE instance SET dead_at = clock_timestamp()
  WHERE instance_key = $1 AND beat = $2::bigint AND ${isAlive}`
const selectBeat = `SELECT beat::text AS beat FROM instance WHERE instance_key = $1 AND ${isAlive}`

/** Declares those dead that stay silent, by the clock of this process. False at the first sign of life. */
async function buryAll(
  { connection }: Context,
  older: readonly OlderInstance[],
  signal: AbortSignal,
): Promise<boolean> {
  const begunMs = performance.now()
  let silent = [...older]
  while (silent.length > 0) {
    await pause(pollMs, signal)
    signal.throwIfAborted()
    const left: OlderInstance[] = []
    for (const one of silent) {
      const { key, beat, deadAfterMs } = one
      const [now] = await connection.alone((sql) => sql.all<{ beat: string }>(selectBeat, [key]))
      // It has left meanwhile, or another declared it dead.
      if (now === undefined) continue
      if (now.beat !== beat) return false
      if (performance.now() - begunMs < deadAfterMs) left.push(one)
      else if ((await connection.alone((sql) => sql.run(updateDead, [key, beat]))) === 0) return false
    }
    silent = left
  }
  return true
}

export interface Script {
  text: string
  /** The steps that it applies. */
  steps: number[]
}

/**
 * What an owner of the database executes for servers whose role may not make tables. Undefined `role`: not known.
 * `contracts`: also contract steps, for when no older server lives.
 */
export async function preparationScript(
  options: DatabaseOptions,
  role: string | undefined,
  contracts: boolean,
  steps: readonly Step[] = allSteps,
): Promise<Script> {
  const applied = await withDatabase(options, (connection) =>
    connection.alone((sql) => appliedSteps(sql, options.schema)),
  )
  if (applied !== undefined) assertUsable(steps, applied)
  const { expand } = missingSteps(steps, applied)
  const wanted =
    applied !== undefined && !contracts
      ? expand
      : steps.filter((one) => !applied?.some(({ step }) => step === one.step))
  return { text: scriptOf(options.schema, role, { wanted, contracts }), steps: wanted.map(({ step }) => step) }
}

/** For an empty database, which nobody has asked. */
export function wholeScript(schema: string, role: string | undefined): string {
  return scriptOf(schema, role, { wanted: allSteps, contracts: false })
}

function scriptOf(
  schema: string,
  role: string | undefined,
  { wanted, contracts }: { wanted: readonly Step[]; contracts: boolean },
): string {
  const name = role === undefined ? '<role>' : quoted(role)
  const rights = 'SELECT, INSERT, UPDATE, DELETE'
  const grants = [
    // A list of vectors is a table, which is made with its collection.
    `GRANT USAGE, CREATE ON SCHEMA ${quoted(schema)} TO ${name};`,
    `GRANT ${rights} ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ${name};`,
  ]
  const numbers = wanted.map(({ step }) => step).join(', ')
  const first = contracts
    ? '-- Execute it once no older server runs.'
    : '-- Execute it once, as the role that owns the tables or may make a schema.'
  return [
    first,
    wanted.length === 0 ? '-- No step is missing.' : `-- Steps: ${numbers}.`,
    ...(wanted.length === 0 ? [] : [schemaScript(schema, wanted).trimEnd()]),
    '',
    '-- What the role of the servers needs, also after new tables.',
    ...grants.map((line) => (role === undefined ? `-- ${line}` : line)),
    '',
  ].join('\n')
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
