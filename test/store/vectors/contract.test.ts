import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { testVectorStore } from '../../contract/vector-store.ts'
import { vectorDatabase } from '../../support/knowledge/vector-database.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'

describePostgres('without pgvector', () => {
  const places: Place[] = []
  const folders: string[] = []
  afterEach(async () => {
    for (const place of places.splice(0)) await place.drop()
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
  })
  const newDatabase = async () => {
    const place = (await testPostgres()).newSchema()
    places.push(place)
    return vectorDatabase(place.url, place.name)
  }

  testVectorStore('postgres with copies in memory', async () =>
    postgresVectors({ database: await newDatabase(), copies: memoryVectors() }),
  )

  testVectorStore('postgres with copies in lancedb', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentserve-copies-'))
    folders.push(folder)
    return postgresVectors({ database: await newDatabase(), copies: lanceVectors({ folder }) })
  })
})
