import { lockKeyOf } from './lock.ts'
import { type Step, steps } from './steps.ts'

export const versions = `CREATE TABLE IF NOT EXISTS schema_version (step int PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('expand', 'contract')), at timestamptz NOT NULL DEFAULT now())`

export const recordOf = ({ step, kind }: Pick<Step, 'step' | 'kind'>) =>
  `INSERT INTO schema_version (step, kind) VALUES (${step}, '${kind}')`

/** The statement of a step with an index: it has no settings of a transaction, so it names the schema. */
export const indexText = (schema: string, sql: string) => sql.replaceAll('{schema}', `"${schema}"`)

/** What `prepareSchema` would execute for these steps, for a role that may. Each is a transaction, and fails when it was applied. */
export function schemaScript(schema: string, wanted: readonly Step[] = steps): string {
  const lock = `SELECT pg_advisory_xact_lock(hashtext('${lockKeyOf(schema)}'));`
  const begin = wanted.some(({ step }) => step === 1) ? [`CREATE SCHEMA IF NOT EXISTS "${schema}";`] : []
  return [
    ...begin,
    `SET search_path = "${schema}";`,
    ...(begin.length > 0 ? [`${versions};`] : []),
    ...wanted.flatMap((one) => [
      `-- Step ${one.step}.`,
      ...(one.index === undefined
        ? ['BEGIN;', lock, ended(one.sql)]
        : // While others write: not inside of a transaction.
          [ended(indexText(schema, one.sql)), 'BEGIN;', lock]),
      `${recordOf(one)};`,
      'COMMIT;',
    ]),
    '',
  ].join('\n')
}

function ended(sql: string): string {
  return sql.trim().replace(/;?$/, ';')
}
