import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VectorStore } from '../../../src/core/knowledge/drivers.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { clusteredRows } from '../../support/knowledge/clustered-rows.ts'
import { type PgvectorServer, startPgvector } from '../../support/knowledge/pgvector.ts'
import { vectorDatabase } from '../../support/knowledge/vector-database.ts'

const dimensions = 512
const rows = clusteredRows(8_000, dimensions)

/** PGlite has one session, so nothing happens in it beside a build. */
describe.skipIf(process.env.AGENTSERVE_TEST_PGVECTOR === undefined)('builds of indexes beside other work', () => {
  let server: PgvectorServer
  let schema: string
  let opened: VectorStore[]
  let warnings: unknown[]
  let look: ReturnType<typeof vectorDatabase>
  beforeAll(async () => {
    server = await startPgvector()
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    schema = server.newSchema()
    opened = []
    warnings = []
    look = vectorDatabase(server.url, schema)
    const table = await storeThat(3_600_000).table('k1_v1', dimensions)
    for (let from = 0; from < rows.length; from += 1_000) await table.add(rows.slice(from, from + 1_000))
  })
  afterEach(async () => {
    for (const store of opened) await store.close()
    await look.close()
  })

  const storeThat = (quietMs: number, patienceMs?: number) => {
    const logger = { ...silentLogger, warn: (...told: unknown[]) => warnings.push(told) }
    const database = vectorDatabase(server.url, schema, { logger })
    const store = postgresVectors({
      database,
      copies: memoryVectors(),
      quietMs,
      indexedFromRows: 1_000,
      againMs: 100,
      patienceMs,
    })
    opened.push(store)
    return store
  }
  const builds = async () => {
    const found = await look.read.all(
      `SELECT pid FROM pg_stat_progress_create_index 
       WHERE datname = current_database() AND relid = '${schema}.vec_k1_v1'::regclass`,
      [],
      'fresh',
    )
    return found.length
  }
  const isValid = async () => {
    const found = await look.read.all<{ valid: boolean }>(
      `SELECT indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE relname = 'vec_k1_v1_hnsw' AND relnamespace = '${schema}'::regnamespace`,
    )
    return found[0]?.valid
  }
  const building = async () => {
    const store = storeThat(0)
    await store.table('k1_v1', dimensions)
    await expect.poll(builds, { interval: 10, timeout: 10_000 }).toBe(1)
    return store
  }
  const endBuilds = () =>
    look.read.all(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()',
    )
  const soon = { interval: 50, timeout: 60_000 }

  it('are finished by the database when the server closes, which does not wait', async () => {
    const store = await building()
    await store.close()
    expect(await builds()).toBe(1)
    await expect.poll(isValid, soon).toBe(true)
  }, 90_000)

  it('are begun anew when the connection is ended, and searches work meanwhile', async () => {
    const store = await building()
    await endBuilds()
    await expect.poll(isValid, soon).toBe(false)
    const table = await store.table('k1_v1', dimensions)
    expect(await table.search(rows[2]?.vector ?? new Float32Array(dimensions), 1)).toMatchObject([{ chunk: 3 }])
    await expect.poll(isValid, soon).toBe(true)
  }, 90_000)

  it('neither hold up a compaction nor fail by it', async () => {
    const store = await building()
    const table = await store.table('k1_v1', dimensions)
    for (let times = 0; times < 5; times++) await table.compact()
    expect(await builds()).toBe(1)
    await expect.poll(isValid, soon).toBe(true)
    expect(warnings).toEqual([])
  }, 90_000)

  it('replace an index while rows are written and found, and no search fails', async () => {
    await (await building()).close()
    await expect.poll(isValid, soon).toBe(true)
    const later = clusteredRows(12_000, dimensions).slice(8_000)
    const store = storeThat(100, 0)
    const other = await storeThat(3_600_000).table('k1_v1', dimensions)
    const table = await store.table('k1_v1', dimensions)
    for (let from = 0; from < 3_900; from += 1_300) await table.add(later.slice(from, from + 1_300))
    let next = 3_900
    const limits: number[] = []
    const step = async () => {
      const row = later[next++]
      if (row) await table.add([row])
      for (const each of [table, other])
        for (const { chunk, vector } of [rows[2], later[0], row].filter((one) => one !== undefined))
          expect((await each.search(vector as Float32Array, 1))[0]?.chunk).toBe(chunk)
      const [found] = await look.read.all<{ upTo: number }>(
        `SELECT substring(pg_get_expr(indpred, indrelid) FROM '[0-9]+')::bigint AS "upTo" FROM pg_index
         WHERE indexrelid = to_regclass('${schema}.vec_k1_v1_hnsw') AND indisvalid`,
      )
      if (found) limits.push(found.upTo)
      return limits.at(-1) ?? 0
    }
    await expect.poll(step, { interval: 5, timeout: 60_000 }).toBeGreaterThanOrEqual(11_900)
    expect(limits[0]).toBe(8_000)
    expect(warnings).toEqual([])
  }, 120_000)

  it('end when the list is dropped', async () => {
    const store = await building()
    await store.drop('k1_v1')
    expect(await store.names()).toEqual([])
  }, 90_000)

  it('are made by one of the servers that start together', async () => {
    for (let servers = 0; servers < 3; servers++) await storeThat(0).table('k1_v1', dimensions)
    let most = 0
    await expect
      .poll(async () => {
        most = Math.max(most, await builds())
        return isValid()
      }, soon)
      .toBe(true)
    expect(most).toBe(1)
  }, 90_000)
})
