import { onTestFinished } from 'vitest'
import { newestOf } from '../../../src/store/sessions/postgres/schema/applied.ts'
import { type Step, steps } from '../../../src/store/sessions/postgres/schema/steps.ts'
import { type Place, testPostgres } from './test-postgres.ts'

/* What newer versions know of the tables: `newer` has one step more than this one, and `newest` two. */

export const newestStep = newestOf(steps)
export const expand: Step = {
  step: newestStep + 1,
  kind: 'expand',
  sql: 'ALTER TABLE run ADD COLUMN later text; CREATE TABLE later (name text PRIMARY KEY)',
}
export const contract: Step = { step: newestStep + 2, kind: 'contract', sql: 'ALTER TABLE later RENAME TO latest' }
export const newer = [...steps, expand]
export const newest = [...newer, contract]

/** A schema for one test, which is dropped once what the test opened later is closed. */
export async function newPlace(): Promise<Pick<Place, 'url' | 'name'>> {
  const place = (await testPostgres()).newSchema()
  onTestFinished(() => place.drop())
  return place
}
