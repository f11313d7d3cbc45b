import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VectorRow } from '../../../src/core/knowledge/drivers.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { halfvecForm, toBinary } from '../../../src/store/vectors/binary.ts'
import { lookForExtension } from '../../../src/store/vectors/extension.ts'
import { hnswIndex, type IndexOptions } from '../../../src/store/vectors/hnsw.ts'
import { nextIndexName } from '../../../src/store/vectors/indexes.ts'
import { findList, indexName, type List } from '../../../src/store/vectors/lists.ts'
import { nearestStatements } from '../../../src/store/vectors/nearest.ts'
import { type PostgresVectorOptions, postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { clusteredRows } from '../../support/knowledge/clustered-rows.ts'
import { type PgvectorServer, startPgvector } from '../../support/knowledge/pgvector.ts'
import { vectorDatabase } from '../../support/knowledge/vector-database.ts'

const dimensions = 16
const all = clusteredRows(1_600, dimensions)
const first = all.slice(0, 1_000)
const never = 3_600_000
const name = indexName('k1_v1')
const nextName = nextIndexName('k1_v1')

/** The nearest by comparing all. */
function nearestOf(rows: readonly VectorRow[], query: Float32Array, limit: number): number[] {
  const dot = (one: ArrayLike<number>, other: ArrayLike<number>) =>
    Array.from(one).reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
  const similarity = ({ vector }: VectorRow) => dot(vector, query) / Math.sqrt(dot(vector, vector))
  return rows
    .map((row) => ({ chunk: row.chunk, similarity: similarity(row) }))
    .sort((one, other) => other.similarity - one.similarity)
    .slice(0, limit)
    .map(({ chunk }) => chunk)
}

const vectorOf = (chunk: number) => all[chunk - 1]?.vector as Float32Array
/** Between the rows of a cluster. */
const queries = Array.from({ length: 10 }, (_, at) => vectorOf(at + 1).map((value, of) => value + Math.sin(of) / 10))

describe('an index that has the rows up to a key', () => {
  let server: PgvectorServer
  let schema: string
  let database: ReturnType<typeof vectorDatabase>
  const closing: (() => Promise<void>)[] = []
  beforeAll(async () => {
    server = await startPgvector()
    // Else small lists are compared.
    await server.execute(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_sort = off', current_database()); END $$;
      SET enable_sort = off`)
  }, 60_000)
  afterAll(() => server.stop())
  beforeEach(() => {
    schema = server.newSchema()
    database = vectorDatabase(server.url, schema, { connections: server.connections })
  })
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
    await database.close()
  })

  const openTable = async (options: Partial<PostgresVectorOptions> = {}) => {
    const own = vectorDatabase(server.url, schema, { connections: server.connections })
    const store = postgresVectors({ database: own, copies: memoryVectors(), quietMs: never, ...options })
    closing.push(() => store.close())
    return store.table('k1_v1', dimensions)
  }
  const indexOf = async (options: IndexOptions = {}) => {
    const list = (await findList(database, 'k1_v1')) as List
    const extension = await lookForExtension(database)
    if (!('oid' in extension)) throw new Error(extension.reason)
    const operators = `${extension.schema}.halfvec_cosine_ops`
    const index = hnswIndex(database, list, operators, { indexedFromRows: 500, quietMs: never, ...options })
    closing.push(() => index.close())
    return { index, list, extension }
  }
  const indexes = () =>
    database.read.all<{ name: string; valid: boolean; condition: string | null }>(
      `SELECT relname AS name, indisvalid AS valid, pg_get_expr(indpred, indrelid) AS condition
       FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE relnamespace = $1::regnamespace AND relname LIKE '%hnsw%' ORDER BY relname`,
      [schema],
    )
  const upTo = (key: number, one = name) => ({ name: one, valid: true, condition: `(chunk_key <= '${key}'::bigint)` })
  const chunksOf = (hits: readonly { chunk: number }[]) => hits.map(({ chunk }) => chunk)
  const indexed = async (options: Partial<PostgresVectorOptions> = {}) => {
    const table = await openTable(options)
    await table.add(first)
    const { index, list, extension } = await indexOf()
    await index.build()
    expect(await indexes()).toEqual([upTo(1_000)])
    return { table, index, list, extension }
  }

  it('leaves rows that come later to a comparison, and finds them at once, in order', async () => {
    const { table, list, extension } = await indexed()
    await table.add(all.slice(1_000, 1_200))
    const rows = all.slice(0, 1_200)
    for (const query of queries) {
      const hits = await table.search(query, 50)
      const similarities = hits.map(({ similarity }) => similarity)
      expect(similarities).toEqual([...similarities].sort((one, other) => other - one))
      const wanted = nearestOf(rows, query, 50)
      const late = wanted.filter((chunk) => chunk > 1_000)
      expect(late.length).toBeGreaterThan(0)
      expect(chunksOf(hits)).toEqual(expect.arrayContaining(late))
      expect(chunksOf(hits).filter((chunk) => wanted.includes(chunk)).length).toBeGreaterThanOrEqual(48)
    }
    expect(await indexes()).toEqual([upTo(1_000)])
    const query = toBinary(vectorOf(1), dimensions, halfvecForm(extension.oid))
    const asked = { query, limit: 10, generations: undefined }
    const planOf = async (key: number | null) => {
      const { text, params } = nearestStatements(list, extension.schema).nearest(asked, key)
      return JSON.stringify(await database.vectors.all(`EXPLAIN ${text}`, params, 'fresh'))
    }
    for (const key of [1_000, 900]) expect(await planOf(key)).toContain(`Index Scan using ${name}`)
    // Servers that know no limit, or a wrong one, compare all rows.
    for (const key of [1_001, null]) expect(await planOf(key)).not.toContain(name)
    for (const key of [1_001, 900, 0, null]) {
      const { text, params } = nearestStatements(list, extension.schema).nearest({ ...asked, limit: 1_200 }, key)
      const found = await database.vectors.all<{ chunk: number }>(text, params, 'fresh')
      expect(new Set(chunksOf(found)).size).toBe(found.length)
      expect(chunksOf(found).slice(0, 10)).toEqual(nearestOf(rows, vectorOf(1), 10))
    }
  })

  it('is searched with a filter, as are the rows beyond it', async () => {
    const { table } = await indexed({ comparedRows: 5 })
    await table.add(all.slice(1_000, 1_200))
    const generations = [3, 7]
    const rows = all.slice(0, 1_200).filter(({ generation }) => generations.includes(generation))
    for (const query of queries) {
      const hits = await table.search(query, 30, generations)
      expect(hits.filter(({ generation }) => !generations.includes(generation))).toEqual([])
      const wanted = nearestOf(rows, query, 30)
      expect(wanted.some((chunk) => chunk > 1_000)).toBe(true)
      expect(chunksOf(hits).filter((chunk) => wanted.includes(chunk)).length).toBeGreaterThanOrEqual(29)
    }
  })

  it('is searched until enough rows pass a condition, which it would not be by default', async () => {
    const table = await openTable({ comparedRows: 5 })
    await table.add(clusteredRows(2_000, dimensions).map((row) => ({ ...row, generation: 1 + (row.chunk % 100) })))
    const { index } = await indexOf()
    await index.build()
    const query = vectorOf(1)
    const found = await table.search(query, 20, [7])
    expect(found.map(({ generation }) => generation)).toEqual(Array.from({ length: 20 }, () => 7))
    // The sum keeps the planner from the index of generations.
    const text = `SELECT chunk_key FROM vec_k1_v1 WHERE generation + 0 = 7 AND chunk_key <= 2000
      ORDER BY embedding OPERATOR(public.<=>) '[${query.join()}]'::public.halfvec(${dimensions}) LIMIT 20`
    expect(await database.vectors.all(text, [], 'fresh')).toHaveLength(20)
    expect((await database.read.all(text, [], 'fresh')).length).toBeLessThan(10)
  })

  it('finds no deleted rows, in the index or beyond it', async () => {
    const { table } = await indexed()
    await table.add(all.slice(1_000, 1_200))
    const query = queries[0] as Float32Array
    const before = await table.search(query, 1_200)
    const [one] = before
    expect(before.filter(({ generation }) => generation === one?.generation).length).toBeGreaterThan(10)
    await table.removeGenerations([one?.generation ?? 0])
    const hits = await table.search(query, 50)
    const rows = all.slice(0, 1_200).filter(({ generation }) => generation !== one?.generation)
    const wanted = nearestOf(rows, query, 50)
    expect(chunksOf(hits).filter((chunk) => wanted.includes(chunk)).length).toBeGreaterThanOrEqual(48)
    expect(hits.filter(({ generation }) => generation === one?.generation)).toEqual([])
  })

  it('is built anew when more than 30 % of the rows are beyond it', async () => {
    const { table, index } = await indexed()
    await table.add(all.slice(1_000, 1_400))
    await index.build()
    expect(await indexes()).toEqual([upTo(1_000)])
    await table.add(all.slice(1_400))
    await index.build()
    expect(await indexes()).toEqual([upTo(1_600)])
    expect(index.unindexed).toBe(0)
  })

  it('is built anew when more rows than are quickly compared are beyond it', async () => {
    const { table } = await indexed()
    const { index } = await indexOf({ mostBeyond: 100 })
    await table.add(all.slice(1_000, 1_100))
    await index.build()
    expect(await indexes()).toEqual([upTo(1_000)])
    await table.add(all.slice(1_100, 1_101))
    await index.build()
    expect(await indexes()).toEqual([upTo(1_101)])
  })

  it('answers while it is replaced, also servers that know the old one alone', async () => {
    await indexed()
    const table = await openTable({ lookEveryMs: never })
    await table.search(vectorOf(1), 1)
    await table.add(all.slice(1_000))
    const { index } = await indexOf()
    let isBuilt = false
    const building = index.build().finally(() => {
      isBuilt = true
    })
    for (let searches = 0; !isBuilt || searches < 20; searches++)
      for (const chunk of [2, 1_500]) expect(chunksOf(await table.search(vectorOf(chunk), 1))).toEqual([chunk])
    await building
    expect(await indexes()).toEqual([upTo(1_600)])
    const { list, extension } = await indexOf()
    const query = toBinary(vectorOf(1), dimensions, halfvecForm(extension.oid))
    const known = nearestStatements(list, extension.schema).nearest({ query, limit: 5, generations: undefined }, 1_000)
    const plan = await database.vectors.all(`EXPLAIN ${known.text}`, known.params, 'fresh')
    expect(JSON.stringify(plan)).toContain(`Index Scan using ${name}`)
  })

  it('replaces an index with all rows, which serves until then', async () => {
    const table = await openTable()
    await table.add(first)
    await server.execute(`CREATE INDEX ${name} ON ${schema}.vec_k1_v1 USING hnsw (embedding public.halfvec_cosine_ops)`)
    const { index } = await indexOf()
    await index.refresh()
    expect([index.isThere, index.limit, index.unindexed]).toEqual([true, null, 0])
    await table.add(all.slice(1_000, 1_010))
    expect(chunksOf(await table.search(vectorOf(1_005), 1))).toEqual([1_005])
    await index.build()
    expect(await indexes()).toEqual([upTo(1_010)])
  })

  it('is put in the place of the old one by another server, when its own was killed', async () => {
    const { index, table } = await indexed()
    await table.add(all.slice(1_000, 1_100))
    await server.execute(`CREATE INDEX ${nextName} ON ${schema}.vec_k1_v1
      USING hnsw (embedding public.halfvec_cosine_ops) WHERE chunk_key <= '1100'::bigint`)
    await index.refresh()
    expect([index.limit, index.unindexed]).toEqual([1_100, 0])
    await index.build()
    expect(await indexes()).toEqual([upTo(1_100)])
    await server.execute(`CREATE INDEX ${nextName} ON ${schema}.vec_k1_v1 (generation) WHERE chunk_key <= 1;
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${schema}.${nextName}'::regclass`)
    await index.build()
    expect(await indexes()).toEqual([upTo(1_100)])
    await server.execute(`ALTER INDEX ${schema}.${name} RENAME TO ${nextName}`)
    await index.build()
    expect(await indexes()).toEqual([upTo(1_100)])
  })

  it('is searched alone by a brief search, when there is too much beyond it', async () => {
    const { table } = await indexed({ comparedValues: 100 * dimensions, lookEveryMs: 0 })
    await table.add(all.slice(1_000, 1_100))
    expect(chunksOf(await table.search(vectorOf(1_050), 1, undefined, true))).toEqual([1_050])
    await table.add(all.slice(1_100, 1_101))
    expect(chunksOf(await table.search(vectorOf(1_050), 1))).toEqual([1_050])
    const brief = chunksOf(await table.search(vectorOf(1_050), 1_200, undefined, true))
    expect(brief.length).toBeGreaterThan(900)
    expect(Math.max(...brief)).toBeLessThanOrEqual(1_000)
  })

  it('is built during writes that never pause, when they have put it off for long', async () => {
    const table = await openTable({ indexedFromRows: 500, quietMs: 300, patienceMs: 0 })
    await table.add(first)
    let chunk = first.length
    const write = async () => {
      await table.add([{ chunk: ++chunk, generation: 1, vector: vectorOf(1) }])
      return (await indexes()).map(({ valid }) => valid)
    }
    await expect.poll(write, { interval: 20, timeout: 20_000 }).toEqual([true])
  }, 30_000)
})
