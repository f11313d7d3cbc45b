import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { type KnowledgeDatabase, knowledgeDatabase } from '../../../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../../../src/store/documents/postgres/store.ts'
import { createUpkeep } from '../../../src/store/documents/postgres/upkeep.ts'
import { postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { wordQuery } from '../../contract/document-store.ts'
import { chunksOf, embedding, generationOf, reserve } from '../../support/knowledge/filter-comparison.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { findPort } from '../../support/postgres/port.ts'
import { type PostgresProxy, startProxy } from '../../support/postgres/proxy.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'

describePostgres('opening and closing a knowledge base in Postgres', () => {
  let place: Place
  let proxy: PostgresProxy
  let client: Client
  beforeAll(async () => {
    place = (await testPostgres()).newSchema()
    proxy = await startProxy(place.url)
    client = new Client({ connectionString: place.url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await proxy.stop()
    await place.drop()
  })
  const create = (url = proxy.url) => knowledgeDatabase({ url, schema: place.name })
  const count = async (sql: string) => Number((await client.query(sql)).rows[0].count)

  it('leaves no connection when it is closed while it opens', async () => {
    const database = create()
    const documents = postgresDocuments(database)
    const vectors = postgresVectors({ database, copies: memoryVectors() })
    const opening = [documents.open(), vectors.names()]
    await documents.close()
    await vectors.close()
    await Promise.allSettled(opening)
    await expect.poll(() => proxy.connections).toBe(0)
    await expect(documents.collections()).rejects.toThrow()
    await documents.open()
    expect(await documents.collections()).toEqual([])
    await documents.close()
    await expect.poll(() => proxy.connections).toBe(0)
  })

  it('leaves no connection when it can not be opened, and closes', async () => {
    await client.query(`CREATE SCHEMA refused; CREATE TABLE refused.schema_version (step int)`)
    const database = knowledgeDatabase({ url: proxy.url, schema: 'refused' })
    const documents = postgresDocuments(database)
    const vectors = postgresVectors({ database, copies: memoryVectors() })
    const all = await Promise.allSettled([documents.open(), vectors.names(), documents.close(), vectors.close()])
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
    await expect.poll(() => proxy.connections).toBe(0)
    await client.query('DROP SCHEMA refused CASCADE')
    const nobody = postgresVectors({
      database: create(`postgres://127.0.0.1:${await findPort()}/x`),
      copies: memoryVectors(),
    })
    const [names, closed] = await Promise.allSettled([nobody.names(), nobody.close()])
    expect([names?.status, closed?.status]).toEqual(['rejected', 'fulfilled'])
  })

  it('says soon that a database does not answer, also while nothing else waits for it', async () => {
    const documents = postgresDocuments(create())
    await documents.open()
    await documents.check()
    proxy.stall()
    try {
      const within = AbortSignal.timeout(10_000)
      const late = new Promise((resolve) => within.addEventListener('abort', () => resolve('late')))
      const checked = documents.check().then(
        () => 'passed',
        (error: { code: string }) => error.code,
      )
      expect(await Promise.race([checked, late])).toBe('unavailable')
    } finally {
      await proxy.heal()
    }
    await expect.poll(() => documents.check().then(() => 'passed'), { timeout: 10_000 }).toBe('passed')
    await documents.close()
  })

  it('forgets the words of deleted documents also after it was opened again', async () => {
    const documents = postgresDocuments(create())
    await documents.open()
    await documents.close()
    await documents.open()
    const { key } = await documents.ensureCollection('again', embedding)
    const at = await reserve(documents, 1)
    const document = generationOf(at.generation, { source: 'f' })
    await documents.publish(key, [{ ...chunksOf(at, 0, 'fleetingword'), document }])
    expect(await documents.keyword(key, wordQuery('fleetingword'), {}, 1)).toHaveLength(1)
    await documents.collect([(await documents.deleteDocument(document.document_id)).generation])
    const left = () => count(`SELECT count(*) FROM ${place.name}.term WHERE word = 'fleetingword'`)
    await expect.poll(left, { timeout: 10_000 }).toBe(0)
    await documents.close()
  })

  it('looks again for words to forget, whenever chunks are deleted while it looks', async () => {
    const database = create()
    await database.open()
    const looks = Array.from({ length: 12 }, async (_, turns) => {
      let looked = 0
      const again = Promise.withResolvers<void>()
      const wakeLater = async () => {
        for (let turn = 0; turn < turns; turn++) await undefined
        upkeep.wake()
      }
      const all: KnowledgeDatabase['read']['all'] = async (text, params, plan) => {
        const rows = await database.read.all(text, params, plan)
        if (!text.includes('AS due')) return rows as never
        looked++
        if (looked === 2) again.resolve()
        if (looked === 1) void wakeLater()
        return [] as never
      }
      const upkeep = createUpkeep({ ...database, read: { ...database.read, all } })
      upkeep.wake()
      await again.promise
      await upkeep.close()
    })
    await Promise.all(looks)
    await database.close()
  })
})
