import { afterEach } from 'vitest'
import { postgresStore } from '../../../../../src/store/sessions/postgres/store.ts'
import { testCluster } from '../../../../contract/store-cluster.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../../../support/postgres/test-postgres.ts'

describePostgres('stores on Postgres', () => {
  const places: Place[] = []
  afterEach(async () => {
    for (const place of places.splice(0)) await place.drop()
  })
  testCluster('postgres', async (count) => {
    const place = (await testPostgres()).newSchema()
    places.push(place)
    return Array.from({ length: count }, () => postgresStore({ url: place.url, schema: place.name }))
  })
})
