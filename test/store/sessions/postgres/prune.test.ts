import { expect, it } from 'vitest'
import { silentLogger } from '../../../../src/core/logger.ts'
import { tryLock } from '../../../../src/store/postgres/locks.ts'
import { Pools } from '../../../../src/store/postgres/pools.ts'
import { postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import { seedOf } from '../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../../support/postgres/test-postgres.ts'

describePostgres('pruning in Postgres', () => {
  it('waits while another server prunes, since none deleted would mean that none is due', async () => {
    const { url, newSchema } = await testPostgres()
    await using schema = newSchema()
    const store = postgresStore({ url, schema: schema.name })
    await store.open()
    const pools = new Pools({ url, schema: schema.name, connections: 'direct', logger: silentLogger })
    const other = await pools.connect('test')
    try {
      for (const id of ['a', 'b', 'c']) await store.createSession(seedOf({ session_id: id }))
      await other.begin()
      expect(await tryLock(other, 'prune')).toBe(true)
      let pruned: number | undefined
      const pruning = store.prune({ maxSessions: 1 }, 10).then((count) => {
        pruned = count
      })
      expect(await Promise.all([1, 2, 3].map(() => store.countSessions({})))).toEqual([3, 3, 3])
      expect(pruned).toBeUndefined()
      await other.exec('COMMIT')
      await pruning
      expect([pruned, await store.countSessions({})]).toEqual([2, 1])
    } finally {
      await other.close()
      await pools.close()
      await store.close()
    }
  })
})
