import { expect, test } from 'vitest'
import { AppError } from '../../../../../src/core/error.ts'
import { silentLogger } from '../../../../../src/core/logger.ts'
import type { SessionStore } from '../../../../../src/core/store.ts'
import { Pools } from '../../../../../src/store/postgres/pools.ts'
import { LostCommit } from '../../../../../src/store/postgres/transaction.ts'
import { Recovery } from '../../../../../src/store/sessions/postgres/cluster/recovery.ts'
import type { Database } from '../../../../../src/store/sessions/postgres/database.ts'
import { Owners } from '../../../../../src/store/sessions/postgres/owners.ts'
import { steps } from '../../../../../src/store/sessions/postgres/schema/steps.ts'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { at } from '../../../../contract/session-store/builders.ts'
import { begin, join, kill, peerOf } from '../../../../contract/store-cluster/members.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../../../support/postgres/test-postgres.ts'

describePostgres('a takeover on Postgres', () => {
  test('tells later of a waiting run that it has taken without knowing it', async () => {
    await using place = (await testPostgres()).newSchema()
    const stores: SessionStore[] = Array.from({ length: 3 }, () =>
      postgresStore({ url: place.url, schema: place.name }),
    )
    for (const store of stores) await store.open()
    const options = { url: place.url, schema: place.name, connections: 'direct', logger: silentLogger } as const
    const pools = new Pools(options)
    const [taker, witness, victim] = [
      await join(stores[0] as SessionStore, 'taker'),
      await join(stores[1] as SessionStore, 'witness'),
      await join(stores[2] as SessionStore, 'victim'),
    ]
    const { key: own } = await peerOf(witness, taker)
    let isAway = false
    const database: Database = {
      steps,
      pools,
      read: pools.read,
      /** As when the database is away from the commit on, and for long. */
      async work(work) {
        const value = await pools.work(work)
        if (isAway && value !== undefined) {
          throw new AppError('unavailable', 'away', { cause: new LostCommit({ id: '1', since: '' }, value, undefined) })
        }
        return value
      },
      owners: new Owners(pools.read),
      numbers: { commits: 0, writes: 0, commitMs: 0 },
      commits: { recorded() {}, freed() {} },
      now: () => at(0),
      maxReadBytes: 1_000_000,
      logger: silentLogger,
    }
    const recovery = new Recovery(database)
    const { runId } = await begin(victim, { run: { status: 'queued', background: true } })
    const key = await kill(witness, victim)
    isAway = true
    await expect(recovery.takeOver(own, key, at(5), 10)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await witness.cluster.beat()).orphaned).toEqual([])
    expect(recovery.doubtful).toEqual([key])
    isAway = false
    expect((await recovery.takeOver(own, key, at(6), 10)).queued).toMatchObject([{ run: { run_id: runId }, fence: 2 }])
    expect(recovery.doubtful).toEqual([])
    expect(await recovery.takeOver(own, key, at(7), 10)).toEqual({ interrupted: [], queued: [] })
    // A start that is repeated as a whole learns of all that its earlier tries took.
    const second = await join(stores[2] as SessionStore, 'second')
    const begun = [await begin(second, { run: { status: 'queued', background: true } }), await begin(second, {})]
    await kill(witness, second)
    isAway = true
    const owner = 'taker'
    await expect(recovery.recover(owner, at(8))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(recovery.recover(owner, at(8))).rejects.toMatchObject({ code: 'unavailable' })
    isAway = false
    const recovered = await recovery.recover(owner, at(9))
    expect(recovered.queued).toMatchObject([{ run: { run_id: begun[0]?.runId }, fence: 2 }])
    expect(await recovery.recover(owner, at(9))).toEqual({ interrupted: [], queued: [] })
    await pools.close()
    for (const store of stores) await store.close()
  })
})
