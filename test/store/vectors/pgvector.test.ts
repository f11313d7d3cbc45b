import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import type { VectorDatabase } from '../../../src/store/vectors/database.ts'
import { findExtension, lookForExtension } from '../../../src/store/vectors/extension.ts'
import { indexName } from '../../../src/store/vectors/lists.ts'
import { type PostgresVectorOptions, postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { testVectorStore } from '../../contract/vector-store.ts'
import { clusteredRows } from '../../support/knowledge/clustered-rows.ts'
import { type PgvectorServer, startPgvector } from '../../support/knowledge/pgvector.ts'
import { vectorDatabase } from '../../support/knowledge/vector-database.ts'

let server: PgvectorServer
beforeAll(async () => {
  server = await startPgvector()
}, 60_000)
afterAll(() => server.stop())

const databaseIn = (schema: string) => vectorDatabase(server.url, schema, { connections: server.connections })
const storeIn = (schema: string, options: Partial<PostgresVectorOptions> = {}) =>
  postgresVectors({ database: databaseIn(schema), copies: memoryVectors(), ...options })
const chunksOf = (hits: readonly { chunk: number }[]) => hits.map(({ chunk }) => chunk)

testVectorStore('pgvector', async () => storeIn(server.newSchema()))

describe('pgvector in particular', () => {
  let schema: string
  beforeEach(() => {
    schema = server.newSchema()
  })
  const formOf = async () => {
    const database = databaseIn(schema)
    const rows = await database.read.all('SELECT list_name AS name, form FROM vector_list ORDER BY list_name')
    await database.close()
    return rows
  }
  const indexStates = async () => {
    const database = databaseIn(schema)
    const rows = await database.read.all<{ name: string; valid: boolean }>(
      `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE relnamespace = $1::regnamespace AND relname LIKE '%hnsw'`,
      [schema],
    )
    await database.close()
    return rows
  }

  it('is created by a role that may, outside of the schema of the tables', async () => {
    await server.execute('DROP EXTENSION IF EXISTS vector CASCADE')
    const database = databaseIn(schema)
    await database.open()
    expect(await lookForExtension(database)).toEqual({ reason: expect.stringContaining('is not created yet') })
    expect(await findExtension(database)).toMatchObject({ schema: 'public', version: expect.stringMatching(/^0\.\d/) })
    await database.close()
    const store = storeIn(schema)
    await store.table('k1_v1', 3)
    expect(await formOf()).toEqual([{ name: 'k1_v1', form: 'halfvec' }])
    await store.close()
  })

  it('is used in any schema', async () => {
    await server.execute('DROP EXTENSION IF EXISTS vector CASCADE')
    await server.execute('CREATE SCHEMA IF NOT EXISTS "Other place"; CREATE EXTENSION vector SCHEMA "Other place"')
    const store = storeIn(schema, { indexedFromRows: 10, quietMs: 0 })
    const table = await store.table('k1_v1', 8)
    await table.add(clusteredRows(20, 8))
    await expect.poll(indexStates, { interval: 25 }).toEqual([{ name: indexName('k1_v1'), valid: true }])
    expect(await table.search(new Float32Array(8).fill(1), 3)).toHaveLength(3)
    await store.close()
    await server.execute('DROP EXTENSION vector CASCADE; CREATE EXTENSION vector SCHEMA public')
  })

  it('finds with an index what an exact search finds', async () => {
    const rows = clusteredRows(1_000, 64)
    const queries = rows.slice(0, 10).map(({ vector }) => vector.map((value, at) => value + Math.sin(at) / 10))
    const store = storeIn(schema, { indexedFromRows: 1_000, quietMs: 600_000 })
    const table = await store.table('k1_v1', 64)
    await table.add(rows)
    const wanted: number[][] = []
    for (const query of queries) wanted.push(chunksOf(await table.search(query, 50)))
    await store.close()
    const later = storeIn(schema, { indexedFromRows: 1_000, quietMs: 0 })
    const indexed = await later.table('k1_v1', 64)
    await expect
      .poll(indexStates, { interval: 50, timeout: 30_000 })
      .toEqual([{ name: indexName('k1_v1'), valid: true }])
    for (const [at, query] of queries.entries()) {
      const found = chunksOf(await indexed.search(query, 50))
      expect(found.filter((chunk) => wanted[at]?.includes(chunk)).length).toBeGreaterThanOrEqual(48)
    }
    await later.close()
  }, 60_000)

  it('leaves out of a brief search what is too much to compare, until there is an index', async () => {
    const store = storeIn(schema, { quietMs: 600_000, comparedValues: 100 * 16, lookEveryMs: 0 })
    const table = await store.table('k1_v1', 16)
    const rows = clusteredRows(200, 16)
    const query = rows[0]?.vector ?? new Float32Array(16)
    await table.add(rows.slice(0, 100))
    expect(chunksOf(await table.search(query, 1, undefined, true))).toEqual([1])
    await table.add(rows.slice(100))
    expect(await table.search(query, 1, undefined, true)).toEqual([])
    expect(chunksOf(await table.search(query, 1))).toEqual([1])
    // Another server builds it.
    const other = storeIn(schema, { indexedFromRows: 100, quietMs: 0 })
    await other.table('k1_v1', 16)
    await expect.poll(() => table.search(query, 1, undefined, true), { interval: 25 }).toMatchObject([{ chunk: 1 }])
    await other.close()
    await store.close()
  })

  it('leaves no settings behind on a connection of a pooler that has built an index', async () => {
    const settings = async () => {
      const names = ['maintenance_work_mem', 'statement_timeout', 'lock_timeout']
      const client = new Client({ connectionString: server.url })
      await client.connect()
      try {
        const rows: unknown[] = []
        for (const name of names) rows.push((await client.query(`SHOW ${name}`)).rows[0])
        return rows
      } finally {
        await client.end()
      }
    }
    await server.execute(
      "SET maintenance_work_mem = '17MB'; SET statement_timeout = '20min'; SET lock_timeout = '19min'",
    )
    const before = await settings()
    const store = storeIn(schema, { indexedFromRows: 10, quietMs: 0 })
    await (await store.table('k1_v1', 8)).add(clusteredRows(20, 8))
    await expect.poll(indexStates, { interval: 25 }).toEqual([{ name: indexName('k1_v1'), valid: true }])
    await store.close()
    expect(await settings()).toEqual(before)
    await server.execute('RESET maintenance_work_mem; RESET statement_timeout; RESET lock_timeout')
  })

  it('does not try again to build the index of a list that another server has dropped', async () => {
    const warnings: unknown[] = []
    const logger = { ...silentLogger, warn: (...told: unknown[]) => warnings.push(told) }
    const database = vectorDatabase(server.url, schema, { connections: server.connections, logger })
    const looking = Promise.withResolvers<void>()
    const mayLook = Promise.withResolvers<void>()
    const failures: string[] = []
    const read: VectorDatabase['read'] = {
      ...database.read,
      async all(text, params, plan) {
        if (text.includes('indisvalid')) {
          looking.resolve()
          await mayLook.promise
        }
        const rows = database.read.all(text, params, plan)
        rows.catch(() => failures.push(text))
        return rows as never
      },
    }
    const store = postgresVectors({
      ...{ database: { ...database, read }, copies: memoryVectors() },
      ...{ quietMs: 0, againMs: 0 },
    })
    await store.table('k1_v1', 16)
    await looking.promise
    const other = storeIn(schema)
    await other.drop('k1_v1')
    mayLook.resolve()
    await expect.poll(() => failures.length).toBe(1)
    for (let times = 0; times < 10; times++) await other.names()
    expect(failures).toHaveLength(1)
    expect(warnings).toEqual([])
    await other.close()
    await store.close()
  })

  it('builds an index anew that a server left unfinished, once its claim has run out', async () => {
    const store = storeIn(schema, { quietMs: 600_000 })
    const table = await store.table('k1_v1', 16)
    await table.add(clusteredRows(50, 16))
    const index = `${schema}.${indexName('k1_v1')}`
    await server.execute(`CREATE INDEX ${indexName('k1_v1')} ON ${schema}.vec_k1_v1 (generation);
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${index}'::regclass;
      UPDATE ${schema}.vector_list SET index_claimed_at = clock_timestamp()`)
    const other = storeIn(schema, { indexedFromRows: 10, quietMs: 0, againMs: 10 })
    await other.table('k1_v1', 16)
    await table.search(new Float32Array(16).fill(1), 3)
    expect(await indexStates()).toEqual([{ name: indexName('k1_v1'), valid: false }])
    await server.execute(
      `UPDATE ${schema}.vector_list SET index_claimed_at = clock_timestamp() - interval '61 seconds'`,
    )
    await expect.poll(indexStates, { interval: 25 }).toEqual([{ name: indexName('k1_v1'), valid: true }])
    await other.close()
    await store.close()
  })

  it('is not built when the server closes while it connects for that, and the connection is closed', async () => {
    const store = storeIn(schema, { quietMs: 600_000 })
    await (await store.table('k1_v1', 16)).add(clusteredRows(50, 16))
    const [begun, mayGoOn, ended] = [0, 1, 2].map(() => Promise.withResolvers<void>())
    const database = databaseIn(schema)
    const connect: VectorDatabase['connect'] = async (purpose, limits) => {
      begun?.resolve()
      await mayGoOn?.promise
      const connection = await database.connect(purpose, limits)
      connection.client.once('end', () => ended?.resolve())
      return connection
    }
    const other = storeIn(schema, { database: { ...database, connect }, indexedFromRows: 10, quietMs: 0 })
    await other.table('k1_v1', 16)
    await begun?.promise
    const closing = other.close()
    mayGoOn?.resolve()
    await closing
    await ended?.promise
    expect(await indexStates()).toEqual([])
    await store.close()
  })

  it('leaves the claim of another server alone that took over the building', async () => {
    const store = storeIn(schema, { quietMs: 600_000 })
    await (await store.table('k1_v1', 16)).add(clusteredRows(50, 16))
    const [begun, mayFail] = [0, 1].map(() => Promise.withResolvers<void>())
    const connect = async () => {
      begun?.resolve()
      await mayFail?.promise
      throw new Error('no connection')
    }
    const database = databaseIn(schema)
    const late = storeIn(schema, { database: { ...database, connect }, indexedFromRows: 10, quietMs: 0 })
    await late.table('k1_v1', 16)
    await begun?.promise
    await server.execute(`UPDATE ${schema}.vector_list SET index_claimed_at = clock_timestamp() + interval '1 second'`)
    mayFail?.resolve()
    await late.close()
    const looking = databaseIn(schema)
    const [list] = await looking.read.all<{ held: boolean }>(
      "SELECT index_claimed_at > clock_timestamp() - interval '50 seconds' AS held FROM vector_list",
    )
    await looking.close()
    expect(list).toEqual({ held: true })
    await store.close()
  })

  it('fails once when the extension is dropped with the vectors, and takes them again', async () => {
    const one = { chunk: 1, generation: 1, vector: Float32Array.of(1, 0, 0) }
    const store = storeIn(schema)
    const table = await store.table('k1_v1', 3)
    await table.add([one])
    const other = storeIn(schema)
    const theirs = await other.table('k1_v1', 3)
    await server.execute('DROP EXTENSION vector CASCADE')
    const failure = await table.search(one.vector, 1).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'Error', message: expect.stringContaining('lost the vectors') })
    const again = await store.table('k1_v1', 3)
    expect(await again.count()).toBe(0)
    await again.add([one])
    for (const each of [again, theirs]) expect(chunksOf(await each.search(one.vector, 1))).toEqual([1])
    await other.close()
    await store.close()
  })

  it('is found again when the extension moves to another schema', async () => {
    const one = { chunk: 1, generation: 1, vector: Float32Array.of(1, 0, 0) }
    const store = storeIn(schema)
    const table = await store.table('k1_v1', 3)
    await table.add([one])
    await server.execute(`CREATE SCHEMA IF NOT EXISTS moved; ALTER EXTENSION vector SET SCHEMA moved`)
    expect(chunksOf(await table.search(one.vector, 1))).toEqual([1])
    await table.add([{ ...one, chunk: 2 }])
    expect(await table.count()).toBe(2)
    await server.execute('ALTER EXTENSION vector SET SCHEMA public')
    expect(chunksOf(await table.search(one.vector, 5)).sort()).toEqual([1, 2])
    await store.close()
  })

  it('makes a list again at the start whose table somebody dropped', async () => {
    const store = storeIn(schema)
    await store.table('k1_v1', 3)
    await store.close()
    await server.execute(`DROP TABLE ${schema}.vec_k1_v1`)
    const later = storeIn(schema)
    const table = await later.table('k1_v1', 3)
    await table.add([{ chunk: 1, generation: 1, vector: Float32Array.of(1, 0, 0) }])
    expect(await table.count()).toBe(1)
    await later.close()
  })

  it.each([
    ['NaN', Float32Array.of(1, Number.NaN, 0)],
    ['infinity', Float32Array.of(1, Number.POSITIVE_INFINITY, 0)],
    ['more than a half float holds', Float32Array.of(1, 70_000, 0)],
    ['the bits of NaN', Uint16Array.of(0x3c00, 0x7e00, 0)],
  ])('refuses a vector with %s, and writes nothing', async (_, vector) => {
    const store = storeIn(schema)
    const table = await store.table('k1_v1', 3)
    const good = { chunk: 1, generation: 1, vector: Float32Array.of(1, 0, 0) }
    await expect(table.add([good, { chunk: 2, generation: 1, vector }])).rejects.toThrow(/no number|not within/)
    expect(await table.count()).toBe(0)
    await store.close()
  })

  it('finds a vector of length 0 with similarity 0', async () => {
    const store = storeIn(schema)
    const table = await store.table('k1_v1', 2)
    await table.add([
      { chunk: 1, generation: 1, vector: Float32Array.of(0, 0) },
      { chunk: 2, generation: 1, vector: Float32Array.of(1, 0) },
    ])
    expect((await table.search(Float32Array.of(1, 0), 5)).map(({ similarity }) => similarity)).toEqual([1, 0])
    await store.close()
  })

  it('refuses a list that has other dimensions', async () => {
    const store = storeIn(schema)
    await store.table('k1_v1', 3)
    const other = storeIn(schema)
    await expect(other.table('k1_v1', 4)).rejects.toThrow('have 3 dimensions, not 4')
    await other.close()
    await store.close()
  })

  it('follows a list that another server has made anew', async () => {
    const store = storeIn(schema)
    const table = await store.table('k1_v1', 3)
    await table.add([{ chunk: 1, generation: 1, vector: Float32Array.of(1, 0, 0) }])
    const other = storeIn(schema)
    await other.table('k1_v1', 3)
    await other.drop('k1_v1')
    await expect(table.search(Float32Array.of(1, 0, 0), 1)).rejects.toMatchObject({ code: 'unavailable' })
    const made = await other.table('k1_v1', 3)
    await made.add([{ chunk: 2, generation: 2, vector: Float32Array.of(1, 0, 0) }])
    expect(chunksOf(await table.search(Float32Array.of(1, 0, 0), 1))).toEqual([2])
    await other.close()
    await store.close()
  })
})
