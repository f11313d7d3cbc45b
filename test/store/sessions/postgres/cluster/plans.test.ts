import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sql } from '../../../../../src/store/postgres/connection.ts'
import type { Pools } from '../../../../../src/store/postgres/pools.ts'
import { selectLooks } from '../../../../../src/store/sessions/postgres/cluster/follows.ts'
import { beat, readCancels } from '../../../../../src/store/sessions/postgres/cluster/instances.ts'
import { takeRun } from '../../../../../src/store/sessions/postgres/cluster/take-over.ts'
import type { Database } from '../../../../../src/store/sessions/postgres/database.ts'
import { at } from '../../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { explaining, openSchema, walked } from '../../../../support/postgres/plans.ts'
import type { Place } from '../../../../support/postgres/test-postgres.ts'

const [own, dead] = [1, 2]

describePostgres('the plans of what instances ask of each other', () => {
  let schema: Place
  let pools: Pools

  beforeAll(async () => {
    ;({ schema, pools } = await openSchema())
    await pools.work((sql) =>
      sql.run(`INSERT INTO instance (owner, joined_at, dead_at) VALUES ('own', now(), NULL), ('dead', now(), now())`),
    )
  })
  afterAll(async () => {
    await pools.close()
    await schema.drop()
  })

  /** Tables and whole indexes that the statements walk. */
  async function walks(): Promise<string[]> {
    const found: string[] = []
    const work: Database['work'] = (use) =>
      pools.work((sql) => use(explaining(sql, (plan) => found.push(...walked(plan)))))
    const database = { work, commits: { recorded() {}, freed() {} } } as unknown as Database
    await work((sql) => beat(sql, own))
    await work((sql) => readCancels(sql, own))
    await work((sql) => sql.all(selectLooks, [['r1', 'r2']]))
    expect(await takeRun(database, dead, own, at(0))).toBeDefined()
    return found.filter((place) => !place.startsWith('instance'))
  }

  it('walk no table, whatever the planner knows of it', async () => {
    await pools.work((sql) => seed(sql, 1, 20))
    expect(await walks(), 'small').toEqual([])
    await pools.work((sql) => seed(sql, 21, 20_000))
    expect(await walks(), 'grown').toEqual([])
    await pools.work((sql) => sql.run('ANALYZE'))
    expect(await walks(), 'analysed').toEqual([])
  })
})

/** Ended runs, of which every thousandth still runs, half of them of the dead instance. */
async function seed(sql: Sql, from: number, to: number): Promise<void> {
  await sql.run(
    `INSERT INTO session (session_id, created_at, updated_at, revision, run_count)
     SELECT 's' || n, '2030', '2030', 1, 1 FROM generate_series(${from}, ${to}) AS n`,
  )
  await sql.run(
    `INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, owner, fence, reserve_until, recorded_seq, begun, input)
     SELECT 'r' || n, 's' || n, 'a', 'agent', CASE WHEN n % 1000 < 4 THEN 'running' ELSE 'completed' END, 1 + n % 2, 1, 1000, 1,
       '{"entity_kind":"agent","created_at":"2030","timeout_ms":null,"metadata":null}', '[]'
     FROM generate_series(${from}, ${to}) AS n`,
  )
}
