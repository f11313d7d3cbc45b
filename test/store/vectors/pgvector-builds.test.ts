import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VectorStore } from '../../../src/core/knowledge/drivers.ts'
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
  let look: ReturnType<typeof vectorDatabase>
  beforeAll(async () => {
    server = await startPgvector()
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    schema = server.newSchema()
    opened = []
    look = vectorDatabase(server.url, schema)
    const table = await storeThat(3_600_000).table('k1_v1', dimensions)
    for (let from = 0; from < rows.length; from += 1_000) await table.add(rows.slice(from, from + 1_000))
  })
  afterEach(async () => {
    for (const store of opened) await store.close()
    await look.close()
  })

  const storeThat = (quietMs: number) => {
    const database = vectorDatabase(server.url, schema)
    const store = postgresVectors({
      database,
      copies: memoryVectors(),
      quietMs,
      indexedFromRows: 1_000,
      againMs: 100,
    })
    opened.push(store)
    return store
  }
  const builds = async () => {
    const found = await look.read.all(
      `SELECT pid FROM pg_stat_progress_create_index WHERE relid = '${schema}.vec_k1_v1'::regclass`,
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
  const endBuilds = () => look.read.all('SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index')
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
