import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunEvent } from '../../../../../src/core/event.ts'
import { silentLogger } from '../../../../../src/core/logger.ts'
import type { SessionStore } from '../../../../../src/core/store.ts'
import { Pools } from '../../../../../src/store/postgres/pools.ts'
import { LostCommit, statusOf } from '../../../../../src/store/postgres/transaction.ts'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { at, claimOf, endOf, seedOf, startOf } from '../../../../contract/session-store/builders.ts'
import { describeOwnPostgres } from '../../../../support/postgres/describe-postgres.ts'
import { type PostgresProxy, startProxy } from '../../../../support/postgres/proxy.ts'
import { type PostgresServer, startPostgres } from '../../../../support/postgres/server.ts'

describeOwnPostgres('a commit whose answer is lost by a Postgres that crashes', () => {
  let server: PostgresServer
  let proxy: PostgresProxy
  let store: SessionStore

  beforeEach(async () => {
    server = await startPostgres()
    proxy = await startProxy(server.url)
    store = postgresStore({ url: proxy.url })
    await store.open()
  })
  afterEach(async () => {
    await proxy.heal()
    await store.close()
    await proxy.stop()
    await server.stop()
  })

  /** The next transaction is committed, and nobody is told. */
  async function crash(): Promise<void> {
    await proxy.lose('answer', /^COMMIT/)
    await proxy.refuse()
    await server.restart('immediate')
    await proxy.heal()
  }

  test('is not taken for done, since the id of its transaction may be of another', async () => {
    const pools = new Pools({ url: proxy.url, schema: 'agentserve', connections: 'direct', logger: silentLogger })
    let calls = 0
    const work = (text: string) =>
      pools.work(async (sql) => {
        calls++
        await sql.all(text)
      })
    const crashing = crash()
    await expect(work('CREATE TABLE kept (n int)')).rejects.toBeInstanceOf(LostCommit)
    await crashing
    expect(calls).toBe(1)
    const again = crash()
    await work('SELECT 1')
    await again
    expect(calls).toBe(3)
    expect(await statusOf(pools.read, { id: `${2n ** 62n + 5n}`, since: '' })).toBe('aborted')
    await pools.close()
  })

  test('is found when it was the beginning of a run that waited, or its resumption', async () => {
    const first = startOf({ session: seedOf({ session_id: 's' }) })
    const next = startOf({ run: { session_id: 's', status: 'queued' }, session: null })
    const [paused, waits] = [first.run.run_id, next.run.run_id]
    await store.startRun(first)
    await store.startRun(next)
    await store.finishRun(endOf(paused, { status: 'input_required', end_seq: 2 }))
    const begun = crash()
    expect(await store.beginRun(waits, 1, at(3))).toBe('begun')
    await begun
    expect(await store.beginRun(waits, 1, at(3))).toBe('gone')
    await store.finishRun(endOf(waits))

    const event: RunEvent = { type: 'run_resumed', run_id: paused, seq: 3, at: at(4), from: 'input_required' }
    const resume = { run_id: paused, end_seq: 2, owner: 'one', at: at(4), reserve_until: 1003, events: [event] }
    const resumed = crash()
    expect(await store.resumeRun(resume)).toEqual({ outcome: 'resumed', fence: 2 })
    await resumed
    expect(await store.resumeRun(resume)).toEqual({ outcome: 'moved_on' })
    expect((await store.readEvents(paused, 2, 9)).map(({ seq }) => seq)).toEqual([3])
  })

  test('is found when it made a session, or changed one from a revision', async () => {
    const created = crash()
    expect(await store.createSession(seedOf({ session_id: 's' }))).toMatchObject({ revision: 1 })
    await created
    const updated = crash()
    expect(await store.updateSession('s', { name: 'n' }, at(5), 1)).toMatchObject({ revision: 2 })
    await updated
    await expect(store.updateSession('s', { name: 'm' }, at(5), 1)).rejects.toMatchObject({
      code: 'precondition_failed',
    })
  })

  test('is found when it took an idempotency key', async () => {
    const crashing = crash()
    expect(await store.claim(claimOf('k'))).toBeUndefined()
    await crashing
    expect(await store.claim(claimOf('k'))).toMatchObject({ run_id: null, answer: null })
  })
})
