import { join } from 'node:path'
import { describe, it } from 'vitest'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { playHostileRuns } from '../../support/hostile/runs.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../support/postgres/test-postgres.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A run of its own for every case; the long form is in the soak. */
const runs = 70
const mostMs = 10_000

describe('whatever a model, a tool, a peer or a caller gives', () => {
  it('ends no other run and stops nothing, on the memory store', { timeout: 120_000 }, async () => {
    await playHostileRuns({ store: memoryStore(), runs, mostMs })
  })

  it('ends no other run and stops nothing, on the SQLite store', { timeout: 120_000 }, async () => {
    await using folder = await temporaryFolder()
    await playHostileRuns({ store: sqliteStore({ path: join(folder.path, 'sessions.db') }), runs, mostMs })
  })
})

describePostgres('whatever a model, a tool, a peer or a caller gives', () => {
  it('ends no other run and stops nothing, on the Postgres store', { timeout: 120_000 }, async () => {
    const { url, newSchema } = await testPostgres()
    await using place = newSchema()
    await playHostileRuns({ store: postgresStore({ url, schema: place.name }), runs, mostMs })
  })
})
