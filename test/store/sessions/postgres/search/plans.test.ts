import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Connection } from '../../../../../src/store/postgres/connection.ts'
import type { Pools } from '../../../../../src/store/postgres/pools.ts'
import { findByWords, findNewest } from '../../../../../src/store/sessions/postgres/search/search.ts'
import {
  selectAppeared,
  selectChanged,
  selectMissing,
} from '../../../../../src/store/sessions/postgres/search/word-steps.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { openSchema } from '../../../../support/postgres/plans.ts'
import type { Place } from '../../../../support/postgres/test-postgres.ts'
import { seedRun } from './seeds.ts'

const runs = 100_000
interface Probe {
  text: string
  types: string
  values: string
}
const byWords: Probe = { text: findByWords, types: 'tsquery, bigint, int', values: `'''rare''', ${runs}, 100` }
const newest: Probe = {
  text: findNewest,
  types: 'tsquery, bigint, int, int',
  values: `'''common''', ${runs}, 100, 1000`,
}
const updates: Probe[] = [
  { text: selectMissing, types: 'bigint, int', values: '0, 500' },
  { text: selectMissing, types: 'bigint, int', values: `${runs - 5_000}, 500` },
  { text: selectAppeared, types: 'bigint, int, bigint[], bigint[]', values: `0, 500, '{7,5000}', '{9,5000}'` },
  { text: selectChanged, types: 'bigint, int', values: '0, 500' },
]

describePostgres('the plans of a search in Postgres', () => {
  let schema: Place
  let pools: Pools
  let sql: Connection

  beforeAll(async () => {
    ;({ schema, pools } = await openSchema())
    sql = await pools.connect('test')
  })
  afterAll(async () => {
    await sql.close()
    await pools.close()
    await schema.drop()
  })

  /** With parameters that the planner knows, and with those that it does not know. */
  async function plansOf({ text, types, values }: Probe): Promise<string[]> {
    const plans: string[] = []
    await sql.exec(`PREPARE probe (${types}) AS ${text}`)
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await sql.exec(`SET plan_cache_mode = ${mode}`)
      const { rows } = await sql.client.query(`EXPLAIN EXECUTE probe (${values})`)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    }
    await sql.exec('DEALLOCATE probe; RESET plan_cache_mode')
    return plans
  }

  async function seedMany(): Promise<void> {
    const number = await seedRun(sql, { said: 'x'.repeat(300), answer: 'y'.repeat(300) })
    const columns = (
      await sql.all<{ column: string }>(
        `SELECT column_name AS column FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = 'run' AND column_name NOT IN ('run_number', 'run_id')`,
      )
    ).map(({ column }) => column)
    await sql.run(
      `INSERT INTO run (run_id, ${columns.join(', ')}) SELECT run_id || n, ${columns.join(', ')}
       FROM run CROSS JOIN generate_series(2, ${runs}) AS n WHERE run_number = ${number}`,
    )
    await sql.run(
      `INSERT INTO run_words (run_number, words, look)
       SELECT run_number, to_tsvector('simple', concat_ws(' ', 'common', 'word' || run_number % 5000, 'other' || run_number % 77,
         CASE WHEN run_number % 20000 = 0 THEN 'rare' END)), CASE WHEN run_number % 10000 = 0 THEN 'running 1' END
       FROM run WHERE run_number <= ${runs - 50}`,
    )
  }

  async function expectGoodPlans(): Promise<void> {
    for (const plan of await plansOf(byWords)) expect(plan).toContain('run_words_by_word')
    for (const plan of await plansOf(newest)) {
      expect(plan).toContain('run_words_pkey')
      expect(plan).not.toMatch(/Seq Scan|run_words_by_word/)
    }
    for (const probe of updates)
      for (const plan of await plansOf(probe)) {
        expect(plan).not.toMatch(/Seq Scan|Hash/)
        if (probe.text === selectMissing) expect(plan).not.toMatch(/Sort|Bitmap/)
      }
  }

  it('use the indexes on tables that nobody has analysed, and on those that somebody has', async () => {
    await seedMany()
    await expectGoodPlans()
    await sql.exec('ANALYZE')
    await expectGoodPlans()
  })
})
