import { afterAll } from 'vitest'
import { postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import { testReadBudget } from '../../../contract/session-store/budget.ts'
import { testSessionStore } from '../../../contract/session-store.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { emptiedSchema } from '../../../support/postgres/emptied-schema.ts'

describePostgres('the store in Postgres', () => {
  const schema = emptiedSchema()
  afterAll(() => schema.drop())

  async function newStore(maxReadBytes?: number) {
    const { url, name } = await schema.empty()
    return postgresStore({ url, schema: name, maxReadBytes })
  }

  testSessionStore('postgres', () => newStore())
  testReadBudget('postgres', newStore)
})
