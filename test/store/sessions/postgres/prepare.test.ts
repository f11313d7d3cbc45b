import { expect, it } from 'vitest'
import { steps } from '../../../../src/store/sessions/postgres/schema/steps.ts'
import { postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../../support/postgres/test-postgres.ts'

describePostgres('tables in Postgres', () => {
  it('are made once by servers that start at the same time', async () => {
    const { url, newSchema } = await testPostgres()
    await using schema = newSchema()
    const stores = Array.from({ length: 5 }, () => postgresStore({ url, schema: schema.name }))
    await Promise.all(stores.map((store) => store.open()))
    await Promise.all(stores.map((store) => store.check()))
    await Promise.all(stores.map((store) => store.close()))
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, place) => place + 1))
    const later = postgresStore({ url, schema: schema.name })
    await later.open()
    await later.close()
    await expect(later.check()).rejects.toMatchObject({ code: 'unavailable' })
  })
})
