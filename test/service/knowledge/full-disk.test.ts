import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type SharedKnowledge, sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

describePostgres('a database that is full', () => {
  let shared: SharedKnowledge
  let client: Client
  beforeAll(async () => {
    shared = await sharedKnowledge()
    client = new Client({ connectionString: shared.place.url })
    await client.connect()
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${shared.place.name}; SET search_path = ${shared.place.name};
      CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`)
  })
  afterAll(async () => {
    await client.end()
    await shared.close()
  })
  const found = async (knowledge: OpenableKnowledge, mode: 'keyword' | 'vector' | 'hybrid') =>
    (await knowledge.search({ query: 'mill stones', mode })).results.map(({ source }) => source)
  const count = async (sql: string) => Number((await client.query(sql)).rows[0].count)
  const content = (name: string) =>
    Array.from({ length: 300 }, (_, at) => `The mill stones of ${name} turn for the ${at}th time.`).join('\n\n')

  // The first three are written in this order; the last is of a reindexing.
  it.each(['vectors', 'chunk', 'chunk_words', 'document', 'collection'])(
    'publishes nothing when %s finds no space',
    async (what) => {
      const [one, other] = [await shared.open(), await shared.open()]
      const before = `before-${what}.md`
      const after = `after-${what}.md`
      await one.knowledge.ingest({ source: before, content: content(before) })
      const [list] = (await client.query('SELECT list_name FROM vector_list ORDER BY list_name')).rows
      const table = what === 'vectors' ? `"vec_${list.list_name}"` : what
      const documents = await count('SELECT count(*) FROM document')
      await client.query(
        `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION full()`,
      )
      const failing = { code: 'storage_full', message: expect.stringContaining('no space left') }
      if (what === 'collection') await expect(one.knowledge.reindex()).rejects.toMatchObject(failing)
      else await expect(one.knowledge.ingest({ source: after, content: content(after) })).rejects.toMatchObject(failing)
      for (const { knowledge } of [one, other])
        for (const mode of ['keyword', 'vector', 'hybrid'] as const) {
          const sources = await found(knowledge, mode)
          expect(sources).not.toContain(after)
          expect(sources.length).toBeGreaterThan(0)
        }
      expect(await count('SELECT count(*) FROM document')).toBe(documents)
      await client.query(`DROP TRIGGER full_disk ON ${table}`)
      await one.knowledge.ingest({ source: after, content: content(after) })
      if (what === 'collection') await one.knowledge.reindex()
      expect(await found(other.knowledge, 'vector')).not.toEqual([])
      expect((await other.knowledge.listDocuments({ source: after }, { limit: 1 })).items).toHaveLength(1)
      await other.documents.collect()
      expect(
        await count('SELECT count(*) FROM chunk WHERE chunk_generation NOT IN (SELECT generation FROM document)'),
      ).toBe(0)
      const lists = (await client.query('SELECT list_name FROM vector_list')).rows
      for (const { list_name } of lists)
        expect(await count(`SELECT count(*) FROM "vec_${list_name}"`), list_name).toBe(
          await count('SELECT count(*) FROM chunk'),
        )
      expect(new Set(lists.map(({ list_name }) => /_v(\d+)/.exec(list_name)?.[1])).size).toBe(1)
      expect((await other.knowledge.status()).pending).toBe(0)
      await one.knowledge.check()
    },
  )
})
