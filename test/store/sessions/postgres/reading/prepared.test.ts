import { expect, it } from 'vitest'
import { silentLogger } from '../../../../../src/core/logger.ts'
import { runStatuses } from '../../../../../src/core/run.ts'
import { Pools } from '../../../../../src/store/postgres/pools.ts'
import { Owners } from '../../../../../src/store/sessions/postgres/owners.ts'
import { reading } from '../../../../../src/store/sessions/postgres/reading/reading.ts'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../../../support/postgres/test-postgres.ts'

describePostgres('lists in Postgres', () => {
  it('prepare no statement that callers make up, which would leave none for the others', async () => {
    const { url, newSchema } = await testPostgres()
    await using schema = newSchema()
    const store = postgresStore({ url, schema: schema.name })
    await store.open()
    await store.close()
    const pools = new Pools({ url, schema: schema.name, connections: 'direct', logger: silentLogger })
    const sql = await pools.connect('test')
    const database = { read: sql, maxReadBytes: 1e7, owners: new Owners(sql), now: () => '' }
    const reads = reading(database as never)
    const prepared = async () => {
      const rows = await sql.all<{ name: string }>('SELECT name FROM pg_prepared_statements ORDER BY name')
      return rows.map(({ name }) => name)
    }
    await prepared()
    const before = await prepared()
    for (const status of [undefined, ...runStatuses]) {
      for (const user_id of [undefined, 'u']) {
        await reads.listRuns({ status, user_id, before: 'r' }, { limit: 5 })
        await reads.listSessions({ user_id, updated_before: '2030' }, { limit: 5 })
        await reads.countSessions({ user_id, agent_id: 'a' })
      }
    }
    expect(await prepared()).toEqual(before)
    await reads.findRun('r')
    expect(await prepared()).toHaveLength(before.length + 1)
    await sql.close()
    await pools.close()
  })
})
