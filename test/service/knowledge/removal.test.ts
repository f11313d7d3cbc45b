import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SharedKnowledge, sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { execute } from '../../support/postgres/places.ts'

describePostgres('a document whose rows can not be removed yet', () => {
  let shared: SharedKnowledge
  beforeAll(async () => {
    shared = await sharedKnowledge()
  })
  afterAll(() => shared.close())

  it.each(['chunk', 'vectors'])('is deleted all the same, and what is left of %s goes later', async (what) => {
    const { place } = shared
    const { knowledge, documents } = await shared.open()
    const { document_id } = await knowledge.ingest({ source: 'a.md', content: 'The mill stones turn.' })
    const [list] = await execute(place.url, `SELECT list_name FROM ${place.name}.vector_list ORDER BY list_name`)
    const table = `${place.name}.${what === 'vectors' ? `"vec_${list}"` : what}`
    await execute(
      place.url,
      `CREATE OR REPLACE FUNCTION ${place.name}.refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = 'internal_error'; END $$;
       CREATE TRIGGER refusal BEFORE DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION ${place.name}.refuse()`,
    )
    await knowledge.deleteDocument(document_id)
    await expect(knowledge.deleteDocument(document_id)).rejects.toMatchObject({ code: 'document_not_found' })
    for (const mode of ['keyword', 'vector', 'hybrid'] as const)
      expect((await knowledge.search({ query: 'mill stones', mode })).results).toEqual([])
    const left = () => execute(place.url, `SELECT 1 FROM ${place.name}.retired`)
    expect(await left()).toHaveLength(1)
    await execute(place.url, `DROP TRIGGER refusal ON ${table}`)
    await documents.collect()
    expect(await left()).toEqual([])
    expect(await execute(place.url, `SELECT 1 FROM ${place.name}."vec_${list}"`)).toEqual([])
    expect(await execute(place.url, `SELECT 1 FROM ${place.name}.chunk`)).toEqual([])
  })
})
