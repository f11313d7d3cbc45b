import { AppError } from '../../../../core/error.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { isAlive } from './instances.ts'
import type { Step } from './steps.ts'

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

export interface Missing {
  expand: Step[]
  contract: Step[]
}

export function missingSteps(known: readonly Step[], applied: readonly AppliedStep[] = []): Missing {
  const missing = known.filter(({ step }) => !applied.some((one) => one.step === step))
  return {
    expand: missing.filter(({ kind }) => kind === 'expand'),
    contract: missing.filter(({ kind }) => kind === 'contract'),
  }
}

/** A step after which this version can't work with the tables. Unknown expand steps are of no concern to it. */
export function strangeStep(known: readonly Step[], applied: readonly AppliedStep[] = []): AppliedStep | undefined {
  return applied.find(({ step, kind }) => kind === 'contract' && !known.some((one) => one.step === step))
}

/** Throws `unavailable` when a newer version has changed the tables in a way that this one can't work with. */
export function assertUsable(known: readonly Step[], applied: readonly AppliedStep[]): void {
  const strange = strangeStep(known, applied)
  if (strange === undefined) return
  throw new AppError(
    'unavailable',
    `A newer agentserve has changed the tables (step ${strange.step}) so that this one, which knows step ${newestOf(known)}, can't use them. Install a newer agentserve.`,
  )
}

export function newestOf(steps: readonly AppliedStep[]): number {
  return Math.max(0, ...steps.map(({ step }) => step))
}

/** An instance that lives and does not know a step. */
export interface OlderInstance {
  owner: string
  version: string
  address: string | null
  /** Its newest step. */
  knows: number
  /** Its beat, and the silence after which it counts as dead. */
  key: number
  beat: string
  deadAfterMs: number
}

/** Those that a contract step would break. Needs the tables of the first step. */
export function olderInstances(sql: Sql, step: number): Promise<OlderInstance[]> {
  return sql.all<OlderInstance>(
    `SELECT owner, app_version AS version, address, schema_known AS knows, instance_key AS key, beat::text AS beat,
       dead_after_ms AS "deadAfterMs"
     FROM instance WHERE ${isAlive} AND schema_known < $1 ORDER BY instance_key`,
    [step],
  )
}
