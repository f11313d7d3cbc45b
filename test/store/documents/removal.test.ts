import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { type KnowledgeDatabase, knowledgeDatabase } from '../../../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../../../src/store/documents/postgres/store.ts'
import { dropList } from '../../../src/store/vectors/lists.ts'
import { postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { emptiedSchema } from '../../support/postgres/emptied-schema.ts'

describePostgres('removing what is left of documents in Postgres', () => {
  const schema = emptiedSchema()
  let databases: KnowledgeDatabase[]
  beforeEach(() => {
    databases = []
  })
  afterEach(async () => {
    for (const database of databases) await database.close()
  })
  afterAll(() => schema.drop())

  it('waits for another server that drops a list of vectors, and does without the list', async () => {
    const place = await schema.empty()
    const open = async () => {
      const database = knowledgeDatabase({ url: place.url, schema: place.name })
      await database.open()
      databases.push(database)
      return database
    }
    const [own, other] = [await open(), await open()]
    const documents = postgresDocuments(own)
    const vectors = postgresVectors({ database: own, copies: memoryVectors() })
    await documents.open()
    for (const name of ['k7_v1', 'k8_v1']) {
      const table = await vectors.table(name, 2)
      await table.add([{ chunk: 1, generation: 5, vector: Float32Array.of(1, 0) }])
    }
    const [dropped, mayCommit] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()]
    const dropping = dropList(
      {
        read: other.read,
        work: (work, kind) =>
          other.work(async (sql) => {
            const value = await work(sql)
            const [row] = await sql.all<{ pid: number }>('SELECT pg_backend_pid() AS pid')
            dropped.resolve(row?.pid ?? 0)
            await mayCommit.promise
            return value
          }, kind),
      },
      'k7_v1',
    )
    const pid = await dropped.promise
    const collecting = documents.collect([5]).then(
      () => 'removed',
      (error: unknown) => error,
    )
    const waiting = 'SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))'
    await expect.poll(() => other.read.all(waiting, [pid])).toHaveLength(1)
    mayCommit.resolve()
    await dropping
    expect(await collecting).toBe('removed')
    expect(await (await vectors.table('k8_v1', 2)).count()).toBe(0)
    await vectors.close()
    await documents.close()
  })
})
