import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../../../src/core/logger.ts'
import { Pools } from '../../../../src/store/postgres/pools.ts'
import { postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import {
  countDatabase,
  examineDatabase,
  findWholeReads,
} from '../../../../src/store/sessions/postgres/upkeep/examine.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../../support/postgres/test-postgres.ts'

describePostgres('an examination of the database', () => {
  let schema: Place
  let options: { url: string; schema: string; connections: 'direct' }
  beforeAll(async () => {
    const { url, newSchema } = await testPostgres()
    schema = newSchema()
    options = { url, schema: schema.name, connections: 'direct' }
  })
  afterAll(() => schema.drop())

  const withConnection = async <T>(use: (connection: Awaited<ReturnType<Pools['connect']>>) => Promise<T>) => {
    const connection = await new Pools({ ...options, logger: silentLogger }).connect('test')
    return use(connection).finally(() => connection.close())
  }

  test('tells what is there, before and after the tables are made', async () => {
    const before = await examineDatabase(options)
    expect(before).toMatchObject({ status: { schema: { applied: null }, instances: [], tables: [] } })
    expect(before.wholeReads).toBeUndefined()
    expect(before.vectors).toBeUndefined()
    expect(before.extensions).toContainEqual(expect.stringMatching(/^plpgsql \d/))
    expect(before.connections.used).toBeGreaterThan(0)
    expect(before.connections.allowed).toBeGreaterThan(before.connections.used)
    const store = postgresStore(options)
    await store.open()
    await store.close()
    const after = await examineDatabase(options)
    expect(after.wholeReads).toEqual([])
    expect(after.vectors).toEqual({ extension: expect.anything(), lists: [] })
    expect(Math.abs(after.clockAheadMs)).toBeLessThan(5_000)
    expect(after.status.schema.missing).toBe(0)
    expect(await countDatabase(options)).toEqual({ counts: { sessions: 0, runs: 0, files: 0 }, problems: [] })
  })

  test('knows since when a transaction keeps dead rows, and which ones do not', async () => {
    const database = await (await testPostgres()).newDatabase()
    const client = new Client({ connectionString: database.url })
    try {
      await client.connect()
      const seconds = async () => (await examineDatabase({ ...options, url: database.url })).oldestTransactionSeconds
      await client.query('CREATE TABLE t (n int)')
      await client.query('BEGIN; SELECT 1')
      await expect.poll(seconds).toBe(0)
      for (const held of ['INSERT INTO t VALUES (1)', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1']) {
        await client.query(`ROLLBACK; BEGIN; ${held}`)
        const before = await seconds()
        expect(before).toBeGreaterThan(0)
        expect(await seconds()).toBeGreaterThan(before)
      }
      await client.query('ROLLBACK')
      await expect.poll(seconds).toBe(0)
    } finally {
      await client.end()
      await database.drop()
    }
  })

  test('sees a plan that reads whole tables', async () => {
    await withConnection(async (connection) => {
      await connection.exec(
        'SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off',
      )
      expect(await findWholeReads(connection)).toEqual(expect.arrayContaining(['run', 'session']))
    })
    await withConnection(async (connection) => expect(await findWholeReads(connection)).toEqual([]))
  })

  test('finds rows that belong to nothing', async () => {
    await withConnection((connection) =>
      connection.exec(`
        INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, owner, fence, reserve_until, recorded_seq, begun, input)
          VALUES ('run_1', 'ses_none', 'echo', 'agent', 'completed', 1, 1, 1, 1, '', '');
        INSERT INTO event (run_number, first_seq, batch) VALUES (1000, 1, ''), (1000, 2, '')`),
    )
    expect(await countDatabase(options)).toEqual({
      counts: { sessions: 0, runs: 1, files: 0 },
      problems: ['1 runs have no session', '2 batches of events have no run'],
    })
  })
})
