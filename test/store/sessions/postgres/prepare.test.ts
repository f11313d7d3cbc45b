import pg from 'pg'
import { expect, it } from 'vitest'
import { schemaScript } from '../../../../src/store/sessions/postgres/schema/script.ts'
import { type Step, steps } from '../../../../src/store/sessions/postgres/schema/steps.ts'
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

  it('of an earlier version get what is new, and keep what is there', async () => {
    const { url, newSchema } = await testPostgres()
    await using schema = newSchema()
    const [first] = steps
    const old = `${schemaScript(schema.name, [first as Step])}
      INSERT INTO claim (claim_key, hash, expires_at, owner, answer) VALUES ('kept', 'h', '2999-01-01', 0, '1');`
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(old)
    await client.end()
    const store = postgresStore({ url, schema: schema.name })
    await store.open()
    expect(await store.findClaim('kept')).toMatchObject({ hash: 'h', answer: 1 })
    expect(await store.openSchedule('a', 'r', '2030-01-01T00:00:00.000Z')).toMatchObject({ paused: false })
    await store.close()
  })
})
