import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { Sql } from '../../../src/store/postgres/connection.ts'
import { classify } from '../../../src/store/postgres/failure.ts'
import { Pools } from '../../../src/store/postgres/pools.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { execute } from '../../support/postgres/places.ts'
import { type PostgresProxy, startProxy } from '../../support/postgres/proxy.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'

describePostgres('works on Postgres', () => {
  let place: Place
  let proxy: PostgresProxy
  let pools: Pools
  let calls: number

  beforeEach(async () => {
    place = (await testPostgres()).newSchema()
    proxy = await startProxy(place.url)
    await execute(place.url, `CREATE SCHEMA ${place.name} CREATE TABLE kept (n int PRIMARY KEY)`)
    pools = new Pools({ url: proxy.url, schema: place.name, connections: 'direct', logger: silentLogger })
    calls = 0
  })
  afterEach(async () => {
    await proxy.heal()
    await pools.close()
    await proxy.stop()
    await place.drop()
  })

  const kept = () => execute(place.url, `SELECT n FROM ${place.name}.kept ORDER BY n`)
  const keep = (n: number) => async (sql: Sql) => {
    calls++
    await sql.run('INSERT INTO kept VALUES ($1)', [n])
    return `kept ${n}`
  }

  test('are recognised as done when the answer to the commit is lost', async () => {
    const lost = proxy.lose('answer', /COMMIT/)
    expect(await pools.work(keep(1))).toBe('kept 1')
    await lost
    expect([await kept(), calls]).toEqual([[1], 1])
  })

  test('are done again when the commit itself is lost', async () => {
    const lost = proxy.lose('request', /COMMIT/)
    expect(await pools.work(keep(1))).toBe('kept 1')
    await lost
    expect([await kept(), calls]).toEqual([[1], 2])
  })

  test('are done again when the connection breaks before the commit', async () => {
    const lost = proxy.lose('answer', /INSERT/)
    expect(await pools.work(keep(1))).toBe('kept 1')
    await lost
    expect([await kept(), calls]).toEqual([[1], 2])
  })

  test('are done again when they only read and their connection breaks, or the database is away', async () => {
    const lost = proxy.lose('answer', /SELECT 7/)
    expect(await pools.read.all('SELECT 7 AS n', [])).toEqual([{ n: 7 }])
    await lost
    await proxy.refuse()
    proxy.cut()
    const reading = pools.read.all('SELECT 8 AS n', [])
    await expect(fetch(`http://127.0.0.1:${proxy.port}`)).rejects.toThrow()
    await proxy.heal()
    expect(await reading).toEqual([{ n: 8 }])
  })

  test('that can not be repeated are recognised too, and are not repeated', async () => {
    for (const [what, found] of [
      ['answer', 'kept 1'],
      ['request', 'unavailable'],
    ] as const) {
      const connection = await pools.connect('a test')
      const lost = proxy.lose(what, /COMMIT/)
      const made = pools.once(connection, keep(calls + 1)).catch((error) => classify(error) === 'away' && 'unavailable')
      expect(await made).toBe(found)
      await lost
      await connection.close()
    }
    expect([await kept(), calls]).toEqual([[1], 2])
  })

  test('wait for a database that is away, and say so when it stays away', async () => {
    await proxy.refuse()
    const waiting = pools.work(keep(1))
    await new Promise(setImmediate)
    await proxy.heal()
    expect(await waiting).toBe('kept 1')
    proxy.cut()
    await proxy.refuse()
    await expect(pools.work(keep(2))).rejects.toSatisfy((error) => classify(error) === 'away')
    expect(await kept()).toEqual([1])
  })

  test('are repeated by nobody for a value that the database refuses', async () => {
    await pools.work(keep(1))
    await expect(pools.work(keep(1))).rejects.toMatchObject({ code: '23505' })
    expect(calls).toBe(2)
  })

  test('are waited for by close, also those without a connection yet', async () => {
    const all = [1, 2, 3, 4, 5].map((n) => pools.work(keep(n)))
    const reads = [1, 2, 3, 4, 5, 6].map(() => pools.read.all('SELECT 1'))
    await pools.close()
    expect(await Promise.all(all)).toHaveLength(5)
    expect(await Promise.all(reads)).toHaveLength(6)
    expect(await kept()).toEqual([1, 2, 3, 4, 5])
    await expect(pools.work(keep(6))).rejects.toThrow()
  })

  test('of bulk take one connection and leave the others free', async () => {
    const gate = Promise.withResolvers<void>()
    let at = 0
    const bulks = [1, 2].map((n) =>
      pools.work(async (sql) => {
        at++
        await gate.promise
        return keep(n)(sql)
      }, 'bulk'),
    )
    await vi.waitFor(() => expect(at).toBe(1), { timeout: 10_000 })
    expect(await pools.work(keep(3))).toBe('kept 3')
    expect(at).toBe(1)
    gate.resolve()
    expect(await Promise.all(bulks)).toEqual(['kept 1', 'kept 2'])
  })

  test('wait for their turn, however long those before them take while the database answers', async () => {
    proxy.delay(150)
    expect(await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => pools.work(keep(n), 'bulk')))).toHaveLength(8)
    await proxy.heal()
    expect(await kept()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  }, 30_000)

  test('that wait for a database which does not answer are told so as soon as those that try', async () => {
    proxy.stall()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const first = pools.work(keep(1), 'bulk')
      // The limit of time for connecting.
      await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
      await vi.advanceTimersByTimeAsync(3_000)
      const later = pools.work(keep(2), 'bulk')
      const all = Promise.allSettled([first, later])
      await vi.advanceTimersByTimeAsync(2_000)
      for (const { reason } of (await all) as { reason?: unknown }[]) expect(classify(reason)).toBe('away')
    } finally {
      vi.useRealTimers()
    }
    expect(calls).toBe(0)
  })

  test('that no transaction can do go past a pooler with their settings, if an address leads there', async () => {
    const limits = { lockMs: 0, maintenanceMb: 33 }
    const settings = async (listenUrl: string | undefined) => {
      const options = { url: proxy.url, listenUrl, schema: place.name, logger: silentLogger }
      const pooled = new Pools({ ...options, connections: 'pooled' })
      const connection = await pooled.connectPast('index', limits)
      const before = proxy.connections
      const [row] = await connection.all(
        `SELECT current_setting('maintenance_work_mem') AS memory, current_setting('lock_timeout') AS locks,
           current_setting('statement_timeout') AS statements, current_schema() AS place`,
      )
      await connection.close()
      await pooled.close()
      return { ...row, isPooled: before > 0 }
    }
    const own = { memory: '33MB', locks: '0', statements: '0', place: place.name }
    expect(await settings(place.url)).toEqual({ ...own, isPooled: false })
    expect(await settings(undefined)).toMatchObject({ memory: '64MB', isPooled: true })
  })
})
