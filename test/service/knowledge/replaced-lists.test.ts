import { Client } from 'pg'
import { beforeEach, expect, it } from 'vitest'
import type { VectorStore } from '../../../src/core/knowledge/drivers.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { type SharedKnowledge, sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

describePostgres('the vectors of an earlier version of a collection', () => {
  let shared: SharedKnowledge
  let client: Client
  beforeEach(async () => {
    shared = await sharedKnowledge()
    client = new Client({ connectionString: shared.place.url })
    await client.connect()
    return async () => {
      await client.end()
      await shared.close()
    }
  })

  /** Of lists, and of the tables with their vectors. */
  const versions = async () => {
    const { rows } = await client.query(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::regnamespace AND relname LIKE 'vec\\_%'
       UNION SELECT 'vec_' || list_name FROM ${shared.place.name}.vector_list`,
      [shared.place.name],
    )
    return new Set(rows.map(({ name }) => Number(/^vec_k\d+_v(\d+)/.exec(name)?.[1])))
  }
  const document = { source: 'a.md', content: 'The anchor holds the boat.' }
  const sources = async (search: Promise<{ results: { source: string }[] }>) =>
    (await search).results.map(({ source }) => source)

  it('are not made again by a server that learned of that version before the others replaced it', async () => {
    const one = await shared.open()
    await one.knowledge.ingest(document)
    const begun = Promise.withResolvers<void>()
    const mayOpen = Promise.withResolvers<void>()
    const around = (vectors: VectorStore): VectorStore => ({
      ...vectors,
      async table(name, dimensions) {
        if (/_v1(?:_|$)/.test(name)) {
          begun.resolve()
          await mayOpen.promise
        }
        return vectors.table(name, dimensions)
      },
    })
    const late = await shared.open({ around })
    const searching = late.knowledge.search({ query: 'anchor', mode: 'vector' })
    const ingesting = late.knowledge.ingest({ source: 'b.md', content: 'The boat has an anchor.' })
    await begun.promise
    await one.knowledge.reindex()
    mayOpen.resolve()
    expect(await sources(searching)).toContain('a.md')
    await ingesting
    expect(await sources(one.knowledge.search({ query: 'anchor', mode: 'vector' }))).toHaveLength(2)
    expect(await versions()).toEqual(new Set([2]))
  })

  it('are gone after the next start when they could not be removed, and the new ones are kept', async () => {
    const added: string[] = []
    const around = (vectors: VectorStore): VectorStore => ({
      ...vectors,
      async table(name, dimensions) {
        const table = await vectors.table(name, dimensions)
        return { ...table, add: (rows) => table.add(rows).finally(() => added.push(name)) }
      },
      async drop(name) {
        if (/_v1(?:_|$)/.test(name)) throw new Error('canceling statement due to lock timeout')
        await vectors.drop(name)
      },
    })
    const { knowledge } = await shared.open({ around })
    await knowledge.ingest(document)
    added.length = 0
    expect(await knowledge.reindex()).toMatchObject({ chunks: 1, vectors: 1, pending: 0 })
    expect(await sources(knowledge.search({ query: 'anchor', mode: 'vector' }))).toEqual(['a.md'])
    expect(new Set(added).size).toBe(added.length)
    expect(await versions()).toEqual(new Set([1, 2]))
    const { knowledge: later } = await shared.open()
    expect(await later.status()).toMatchObject({ vectors: 1, pending: 0 })
    expect(await versions()).toEqual(new Set([2]))
  })

  it('are replaced although a reindexing fails at its end, and nothing is embedded again', async () => {
    let asked = 0
    const added: string[] = []
    const around = (vectors: VectorStore): VectorStore => ({
      ...vectors,
      async table(name, dimensions) {
        const table = await vectors.table(name, dimensions)
        const missing = async () => {
          if (/_v2$/.test(name) && ++asked === 2) throw new Error('the connection broke')
          return (await table.missing?.()) ?? []
        }
        return { ...table, missing, add: (rows) => table.add(rows).finally(() => added.push(name)) }
      },
    })
    const { knowledge } = await shared.open({ around })
    await knowledge.ingest(document)
    added.length = 0
    await expect(knowledge.reindex()).rejects.toThrow('the connection broke')
    expect(await knowledge.status()).toMatchObject({ vectors: 1, pending: 0 })
    expect(await sources(knowledge.search({ query: 'anchor', mode: 'vector' }))).toEqual(['a.md'])
    expect(new Set(added).size).toBe(added.length)
    await shared.open().then((other) => other.knowledge.status())
    expect(await versions()).toEqual(new Set([2]))
  })

  it('leave no copy on a server whose search finds that another has replaced them', async () => {
    const copies = memoryVectors()
    const one = await shared.open()
    await one.knowledge.ingest(document)
    let held: PromiseWithResolvers<void> | undefined
    const reached = Promise.withResolvers<void>()
    const around = (vectors: VectorStore): VectorStore => ({
      ...vectors,
      async table(name, dimensions) {
        const table = await vectors.table(name, dimensions)
        const search: typeof table.search = async (...given) => {
          reached.resolve()
          await held?.promise
          return table.search(...given)
        }
        return { ...table, search }
      },
    })
    const other = await shared.open({ around, copies })
    await other.knowledge.search({ query: 'anchor', mode: 'vector' })
    expect((await copies.names()).filter((name) => !/_v1_/.test(name))).toEqual([])
    held = Promise.withResolvers()
    const searching = other.knowledge.search({ query: 'anchor', mode: 'vector' })
    await reached.promise
    await one.knowledge.reindex()
    held.resolve()
    expect(await sources(searching)).toEqual(['a.md'])
    expect((await copies.names()).filter((name) => !/_v2_/.test(name))).toEqual([])
  })
})
