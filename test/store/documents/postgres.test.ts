import { afterAll, beforeAll } from 'vitest'
import { knowledgeDatabase } from '../../../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../../../src/store/documents/postgres/store.ts'
import { testDocumentStore } from '../../contract/document-store.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'

describePostgres('documents in Postgres', () => {
  let place: Place
  beforeAll(async () => {
    place = (await testPostgres()).newSchema()
  })
  afterAll(() => place.drop())

  const create = (space: string) => postgresDocuments(knowledgeDatabase({ url: place.url, schema: place.name, space }))
  testDocumentStore('in Postgres', create)
})
