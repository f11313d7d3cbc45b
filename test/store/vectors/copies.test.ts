import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { VectorStore } from '../../../src/core/knowledge/drivers.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { examineDatabase } from '../../../src/store/sessions/postgres/upkeep/examine.ts'
import type { VectorDatabase } from '../../../src/store/vectors/database.ts'
import { type PostgresVectorOptions, postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { clusteredRows } from '../../support/knowledge/clustered-rows.ts'
import { vectorDatabase } from '../../support/knowledge/vector-database.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { emptiedSchema } from '../../support/postgres/emptied-schema.ts'
import { execute } from '../../support/postgres/places.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import type { Place } from '../../support/postgres/test-postgres.ts'

const dimensions = 16
const chunksOf = (hits: readonly { chunk: number }[]) => hits.map(({ chunk }) => chunk).sort((a, b) => a - b)

describePostgres('copies of vectors that Postgres keeps', () => {
  const schema = emptiedSchema()
  let place: Place
  let opened: VectorStore[]
  const folders: string[] = []
  beforeEach(async () => {
    place = await schema.empty()
    opened = []
    await execute(place.url, `DROP TABLE IF EXISTS ${place.name}."vec_k1_v1", ${place.name}."vec_k1_v2"`)
  })
  afterEach(async () => {
    for (const store of opened) await store.close()
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
  })
  afterAll(() => schema.drop())

  const databaseAt = (url: string) => vectorDatabase(url, place.name)
  /** The reads of vectors, by their first generation and the chunk after which they begin. */
  const counting = (database: VectorDatabase, reads: number[]): VectorDatabase => ({
    ...database,
    read: {
      ...database.read,
      all: async (text, params, plan) => {
        const rows = await database.read.all(text, params, plan)
        if (/^SELECT chunk_key AS chunk, generation, embedding/.test(text)) reads.push(rows.length)
        return rows as never
      },
    },
  })
  const server = (options: Partial<PostgresVectorOptions> = {}) => {
    const store = postgresVectors({
      database: databaseAt(place.url),
      copies: memoryVectors(),
      everyMs: 600_000,
      ...options,
    })
    opened.push(store)
    return store
  }
  const newFolder = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-copies-'))
    folders.push(folder)
    return folder
  }
  const rows = clusteredRows(2_500, dimensions)
  const all = async (store: VectorStore, name = 'k1_v1') => {
    const table = await store.table(name, dimensions)
    return chunksOf(await table.search(rows[0]?.vector ?? new Float32Array(dimensions), 5_000))
  }

  test('have what another server adds and lack what it removes, from the next search on', async () => {
    const one = await server().table('k1_v1', dimensions)
    const other = server()
    await one.add(rows.slice(0, 30))
    expect(await all(other)).toEqual(chunksOf(rows.slice(0, 30)))
    await one.add(rows.slice(30, 60))
    await one.removeGenerations([1, 2])
    const left = rows.slice(0, 60).filter(({ generation }) => generation > 2)
    expect(await all(other)).toEqual(chunksOf(left))
    await one.add(rows.slice(0, 1))
    expect(await all(other)).toEqual(chunksOf([...left, rows[0] ?? { chunk: 0 }]))
  })

  test('read each vector once, also of a document that grows in many writes', async () => {
    const reads: number[] = []
    const one = await server().table('k1_v1', dimensions)
    const other = server({ database: counting(databaseAt(place.url), reads) })
    const large = rows.map((row) => ({ ...row, generation: 1 }))
    for (let from = 0; from < large.length; from += 500) {
      await one.add(large.slice(from, from + 500))
      expect(await all(other)).toHaveLength(from + 500)
    }
    expect(await all(other)).toEqual(chunksOf(large))
    expect(reads.reduce((sum, count) => sum + count, 0)).toBe(large.length)
  })

  test('of a new folder get everything; of the same folder only what is new', async () => {
    const folder = await newFolder()
    const one = await server().table('k1_v1', dimensions)
    await one.add(rows)
    const first: number[] = []
    const store = server({ database: counting(databaseAt(place.url), first), copies: lanceVectors({ folder }) })
    expect(await all(store)).toEqual(chunksOf(rows))
    expect(first.reduce((sum, count) => sum + count, 0)).toBe(rows.length)
    await store.close()

    await one.removeGenerations([3])
    await one.add([{ chunk: 9_000, generation: 99, vector: rows[5]?.vector ?? new Float32Array(dimensions) }])
    const later: number[] = []
    const again = server({ database: counting(databaseAt(place.url), later), copies: lanceVectors({ folder }) })
    const wanted = [...rows.filter(({ generation }) => generation !== 3), { chunk: 9_000 }]
    expect(await all(again)).toEqual(chunksOf(wanted))
    expect(later).toEqual([1])
  })

  test('that are torn while a server is down are made again', async () => {
    const folder = await newFolder()
    await (await server().table('k1_v1', dimensions)).add(rows)
    const store = server({ copies: lanceVectors({ folder }) })
    expect(await all(store)).toHaveLength(rows.length)
    await store.close()
    const [table = ''] = (await readdir(folder)).filter((name) => name.endsWith('.lance'))
    const data = join(folder, table, 'data')
    for (const file of await readdir(data)) await writeFile(join(data, file), 'torn')
    expect(await all(server({ copies: lanceVectors({ folder }) }))).toEqual(chunksOf(rows))
  })

  test('whose files are lost while a server searches are made again', async () => {
    const folder = await newFolder()
    await (await server().table('k1_v1', dimensions)).add(rows)
    const store = server({ copies: lanceVectors({ folder }) })
    expect(await all(store)).toHaveLength(rows.length)
    await rm(folder, { recursive: true })
    expect(await all(store)).toEqual(chunksOf(rows))
  })

  test('compare everything when they are further behind than the changes that are kept', async () => {
    const one = await server().table('k1_v1', dimensions)
    const other = server()
    await one.add(rows.slice(0, 10))
    expect(await all(other)).toHaveLength(10)
    await one.add(rows.slice(10, 20))
    await one.removeGenerations([4])
    await execute(
      place.url,
      `DELETE FROM ${place.name}.vector_change WHERE seq < (SELECT max(seq) FROM ${place.name}.vector_change)`,
    )
    const wanted = rows.slice(0, 20).filter(({ generation }) => generation !== 4)
    expect(await all(other)).toEqual(chunksOf(wanted))
  })

  test('of two versions are kept apart, and those of a dropped list are removed', async () => {
    const folder = await newFolder()
    const one = server()
    await (await one.table('k1_v1', dimensions)).add(rows.slice(0, 10))
    await (await one.table('k1_v2', dimensions)).add(rows.slice(0, 20))
    const store = server({ copies: lanceVectors({ folder }) })
    expect([(await all(store)).length, (await all(store, 'k1_v2')).length]).toEqual([10, 20])
    await store.close()
    await one.drop('k1_v1')
    const again = server({ copies: lanceVectors({ folder }) })
    expect(await all(again, 'k1_v2')).toHaveLength(20)
    expect((await readdir(folder)).filter((name) => name.endsWith('.lance'))).toEqual([
      expect.stringMatching(/^k1_v2_l/),
    ])
  })

  test('are not mistaken for those of a list that another server has made anew', async () => {
    const one = server()
    await (await one.table('k1_v1', dimensions)).add(rows.slice(0, 10))
    const other = server()
    expect(await all(other)).toHaveLength(10)
    await one.drop('k1_v1')
    await expect(all(other)).rejects.toMatchObject({ code: 'unavailable' })
    await (await one.table('k1_v1', dimensions)).add(rows.slice(5, 9))
    expect(await all(other)).toEqual([6, 7, 8, 9])
  })

  test('miss nothing of many servers that write and remove at once', async () => {
    const tables = await Promise.all([1, 2, 3].map(() => server().table('k1_v1', dimensions)))
    const reader = server()
    const parts = Array.from({ length: 30 }, (_, at) =>
      rows.slice(at * 20, at * 20 + 20).map((row) => ({ ...row, generation: at + 1 })),
    )
    const writing = Promise.all(
      parts.map(async (part, at) => {
        const table = tables[at % 3]
        await table?.add(part)
        if (at % 5 === 0) await table?.removeGenerations([at + 1])
      }),
    )
    for (let searches = 0; searches < 20; searches++) await all(reader)
    await writing
    expect(await all(reader)).toEqual(chunksOf(parts.filter((_, at) => at % 5 !== 0).flat()))
  })

  test('wait for a database that is away, and go on when it is back', async () => {
    const proxy = await startProxy(place.url)
    const store = server({ database: databaseAt(proxy.url), waitMs: 30_000 })
    const one = await server().table('k1_v1', dimensions)
    await one.add(rows.slice(0, 10))
    expect(await all(store)).toHaveLength(10)
    await proxy.refuse()
    proxy.cut()
    await expect(all(store)).rejects.toMatchObject({ code: 'unavailable' })
    await one.add(rows.slice(10, 20))
    await proxy.heal()
    expect(await all(store)).toHaveLength(20)
    await store.close()
    await proxy.stop()
  }, 30_000)

  test('answer with what is there when copying takes too long', async () => {
    const one = await server().table('k1_v1', dimensions)
    await one.add(rows.slice(0, 10))
    let hold = false
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const database = databaseAt(place.url)
    const slow: VectorDatabase = {
      ...database,
      read: {
        ...database.read,
        all: async (text, params, plan) => {
          if (hold) await held
          return database.read.all(text, params, plan)
        },
      },
    }
    const store = server({ database: slow, waitMs: 50 })
    await expect.poll(() => all(store)).toHaveLength(10)
    await one.add(rows.slice(10, 20))
    hold = true
    expect(await all(store)).toHaveLength(10)
    hold = false
    release()
    await expect.poll(() => all(store)).toHaveLength(20)
  })

  test('are what an examination tells of a database without pgvector', async () => {
    await server().table('k1_v1', dimensions)
    const options = { url: place.url, schema: place.name, connections: 'direct' as const }
    expect((await examineDatabase(options)).vectors).toEqual({
      extension: { reason: 'pgvector is not installed on the database server' },
      lists: [{ name: 'k1_v1', form: 'bytea', hasIndex: false }],
    })
  })

  test('are told of once, with the reason', async () => {
    const told: string[] = []
    const logger = { ...silentLogger, info: (_: object, message?: string) => void told.push(message ?? '') }
    const store = server({ database: vectorDatabase(place.url, place.name, { logger }) })
    await store.table('k1_v1', dimensions)
    await store.table('k1_v2', dimensions)
    expect(told.filter((message) => message.includes('vector'))).toEqual([
      'pgvector is not installed on the database server: the database keeps the vectors, and this server searches a copy in memory',
    ])
  })

  test('refuse a vector with NaN, and the database writes nothing', async () => {
    const table = await server().table('k1_v1', dimensions)
    const vector = new Float32Array(dimensions).fill(Number.NaN)
    await expect(table.add([...rows.slice(0, 2), { chunk: 5, generation: 1, vector }])).rejects.toThrow(/no number/)
    expect(await table.count()).toBe(0)
  })
})
