import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import { sqliteStore } from '../../../../src/store/sessions/sqlite/store.ts'
import { emptyDatabase } from '../../../support/empty-database.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { emptiedSchema } from '../../../support/postgres/emptied-schema.ts'
import { answersOf, passesBy, randomHistory } from '../../../support/random-history.ts'
import { seededRandom } from '../../../support/seeded-random.ts'

describePostgres('the stores in Postgres and SQLite', () => {
  const schema = emptiedSchema()
  afterAll(() => schema.drop())

  it.each([1, 2])('say the same after the same writes, whatever they are, in order %s', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-model-'))
    const { url, name } = await schema.empty()
    const sqlite = sqliteStore({ path: await emptyDatabase('sessions', join(folder, 'sessions.db')) })
    const postgres = postgresStore({ url, schema: name })
    const stores = [sqlite, postgres]
    await Promise.all(stores.map((store) => store.open()))
    try {
      const compare = async () => expect(await answersOf(postgres, runs)).toEqual(await answersOf(sqlite, runs))
      const { writes, runs } = randomHistory(seededRandom(), 150)
      for (const [n, write] of writes.entries()) {
        if (await passesBy(sqlite, write)) continue
        const [expected, outcome] = await Promise.all(
          stores.map((store) => write.to(store).catch((error) => error.code)),
        )
        expect([n, outcome]).toEqual([n, expected])
        if (n % 50 === 49) await compare()
      }
      await compare()
    } finally {
      await Promise.all(stores.map((store) => store.close()))
      await rm(folder, { recursive: true, force: true })
    }
  })
})
