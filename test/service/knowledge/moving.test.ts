import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { DocumentStore } from '../../../src/core/knowledge/document-store.ts'
import { searchModes } from '../../../src/core/knowledge/knowledge.ts'
import { createEmbedders } from '../../../src/knowledge/embedders/all.ts'
import { openStoredVectors } from '../../../src/knowledge/vectors/lance-reading.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { createStoredChunks } from '../../../src/knowledge/words/stored-chunks.ts'
import { type MoveDrivers, moveKnowledge } from '../../../src/service/knowledge/moving.ts'
import { knowledgeDatabase } from '../../../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../../../src/store/documents/postgres/store.ts'
import { createDocumentStore } from '../../../src/store/documents/store.ts'
import { fromBinary } from '../../../src/store/vectors/binary.ts'
import { postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { type SharedKnowledge, sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

const long = Array.from({ length: 2_600 }, (_, at) => `Paragraph ${at} of the long chronicle of harbour ${at % 9}.`)
const texts: Record<string, string> = {
  'guide.md': '# Harbour\n\nThe lamp burns paraffin.\n\n## Boats\n\nThe anchor holds the boat. ✓ 你好 🙂',
  'long.md': long.join('\n\n'),
  "o'neill\u0001 \ud800.txt": 'A strange source and a lone \udfff surrogate.',
  ...Object.fromEntries(
    Array.from({ length: 130 }, (_, at) => [`note-${at}.md`, `Note ${at}: gulls over quay ${at % 7}.`]),
  ),
}

describePostgres('a local knowledge base that moves into Postgres', () => {
  let local: KnowledgeFolder
  let shared: SharedKnowledge
  let client: Client
  let times = 0
  beforeAll(async () => {
    local = await knowledgeFolder()
    let now = Date.parse('2026-01-01')
    const knowledge = await local.open({ clock: () => (now += 1_000), embedding: { provider: 'lexical' } })
    for (const [source, content] of Object.entries(texts))
      await knowledge.ingest({
        ...{
          source,
          content,
          chunk_size: 120,
          metadata: { owner: source.length % 2 ? 'ann' : 'bob', tags: ['a', 1, null] },
        },
        ...{ name: `Name of ${source}`, collection: source.startsWith('note-1') ? 'notes' : 'default' },
      })
    await knowledge.ingest({ source: 'guide.md', content: `${texts['guide.md']} Once more.`, chunk_size: 120 })
    await knowledge.brought.change({ add: ['guide.md'] })
    await knowledge.close()
  })
  beforeEach(async () => {
    shared = await sharedKnowledge()
    client = new Client({ connectionString: shared.place.url })
    await client.connect()
  })
  afterEach(async () => {
    await client.end()
    await shared.close()
  })
  afterAll(() => local.remove())

  const from = async () => {
    const folder = join(local.folder, 'knowledge')
    const documents = createDocumentStore({ path: join(folder, 'knowledge.db') })
    await documents.open()
    return { documents, vectors: await openStoredVectors(join(folder, 'vectors')) }
  }
  const to = async (space: string, deadAfterMs?: number) => {
    const database = knowledgeDatabase({ url: shared.place.url, schema: shared.place.name, space, deadAfterMs })
    const documents = postgresDocuments(database)
    await documents.open()
    return { documents, vectors: postgresVectors({ database, copies: memoryVectors() }) }
  }
  const move = async (
    space: string,
    change: (drivers: MoveDrivers) => MoveDrivers = (drivers) => drivers,
    signal = new AbortController().signal,
  ) => {
    const [source, target] = [await from(), await to(space)]
    const told: [number, number][] = []
    try {
      const drivers = {
        from: source,
        to: target,
        embedders: createEmbedders({ provider: 'lexical' }),
        toRows: createStoredChunks(),
      }
      const moved = await moveKnowledge(change(drivers), { signal, progress: (...now) => void told.push(now) })
      return { moved, told }
    } finally {
      await source.vectors.close()
      await source.documents.close()
      await target.vectors.close()
      await target.documents.close()
    }
  }
  /** Everything of a knowledge base but the numbers of its chunks. */
  const contents = async (documents: DocumentStore) => {
    const all = []
    for (const collection of await documents.collections()) {
      const listed = []
      for (let cursor: string | undefined; ; ) {
        const { items, next } = await documents.listDocuments({ collection: collection.key }, { limit: 50, cursor })
        for (const { generation, ...document } of items) {
          const chunks = (await documents.chunksOf([generation], 0, 5_000)).map(
            ({ key: _, generation: __, ...chunk }) => chunk,
          )
          listed.push({ ...document, chunks })
        }
        if (!next) break
        cursor = next
      }
      const { name, embedding } = collection
      listed.sort((one, other) => (one.source < other.source ? -1 : 1))
      all.push({ name, embedding, listed, brought: await documents.brought(name) })
    }
    return all
  }
  /** The bits of the vectors by the id of their chunk, of both lists. */
  const localVectors = async () => {
    const source = await from()
    const found: Record<string, string> = {}
    for (const { key, version } of await source.documents.collections())
      for (const name of await source.vectors.names()) {
        if (!name.startsWith(`k${key}_v${version}`)) continue
        const rows = new Map((await source.vectors.read(name, 1, 2 ** 31 - 1)).map((row) => [row.chunk, row.vector]))
        for (const { generation } of await source.documents.generations(key))
          for (const chunk of await source.documents.chunksOf([generation], 0, 5_000)) {
            const vector = rows.get(chunk.key) as Uint16Array<ArrayBuffer>
            found[`${chunk.id} ${vector.length}`] = Buffer.from(
              vector.buffer,
              vector.byteOffset,
              vector.byteLength,
            ).toString('base64')
          }
      }
    await source.vectors.close()
    await source.documents.close()
    return found
  }
  const storedVectors = async (space: string) => {
    const found: Record<string, string> = {}
    await client.query(`SET search_path = ${shared.place.name}`)
    const lists = await client.query(
      'SELECT list_name, dimensions FROM vector_list JOIN collection ON collection_key = collection WHERE space = $1',
      [space],
    )
    for (const { list_name, dimensions } of lists.rows) {
      const { rows } = await client.query(
        `SELECT chunk_id, embedding FROM "vec_${list_name}" JOIN chunk USING (chunk_key)`,
      )
      for (const { chunk_id, embedding } of rows) {
        const bits = fromBinary(embedding, dimensions)
        found[`${chunk_id} ${dimensions}`] = Buffer.from(bits.buffer, bits.byteOffset, bits.byteLength).toString(
          'base64',
        )
      }
    }
    return found
  }
  const assertWhole = async (space: string) => {
    const [source, target] = [await from(), await to(space)]
    expect(await contents(target.documents)).toEqual(await contents(source.documents))
    for (const { documents, vectors } of [source, target]) {
      await vectors.close()
      await documents.close()
    }
    expect(await storedVectors(space)).toEqual(await localVectors())
    expect(
      await count(`SELECT count(*) FROM chunk WHERE chunk_generation NOT IN (SELECT generation FROM document)`),
    ).toBe(0)
  }
  const count = async (sql: string) => Number((await client.query(sql)).rows[0].count)
  const newSpace = () => `space-${times++}`

  it('is there as it was: documents, owners, chunks, and the bits of the vectors, without an embedder', async () => {
    const space = newSpace()
    const { moved, told } = await move(space)
    const [notes, others] = [41, Object.keys(texts).length - 41]
    expect(moved).toEqual([
      { collection: 'default', copied: others, unchanged: 0, kept: 0, pending: 0 },
      { collection: 'notes', copied: notes, unchanged: 0, kept: 0, pending: 0 },
    ])
    expect(told.at(-1)?.[0]).toBe(told.at(-1)?.[1])
    expect(told.map(([done]) => done)).toEqual(told.map(([done]) => done).toSorted((one, other) => one - other))
    await assertWhole(space)
    const again = await move(space)
    expect(again.moved.map(({ copied, unchanged }) => [copied, unchanged])).toEqual([
      [0, others],
      [0, notes],
    ])
    const { knowledge } = await shared.open({ space, embedding: { provider: 'lexical' } })
    const own = await local.open({ embedding: { provider: 'lexical' } })
    for (const query of ['anchor boat', 'gulls over quay 3', 'chronicle harbour 77', 'paraffin'])
      for (const mode of searchModes) {
        const found = [knowledge, own].map(async (one) => {
          const { results } = await one.search({ query, mode, limit: 20, filters: { owner: 'ann' } })
          return new Map(results.map(({ chunk_id, score }) => [chunk_id, score] as const).sort())
        })
        const [there, here] = await Promise.all(found)
        expect([...(there?.keys() ?? [])], `${mode}: ${query}`).toEqual([...(here?.keys() ?? [])])
        // One keeps vectors in halves of floats.
        for (const [id, score] of there ?? []) expect(score).toBeCloseTo(here?.get(id) ?? 0, 2)
      }
  })

  it('is whole in the end wherever it was broken off, and shows no halves meanwhile', {
    timeout: 120_000,
  }, async () => {
    const space = newSpace()
    const steps = ['reserve', 'addChunks', 'publish', 'changeBrought'] as const
    for (const step of steps)
      for (const when of ['before', 'after'] as const) {
        let calls = 0
        const broken = (drivers: MoveDrivers): MoveDrivers => {
          const { documents } = drivers.to
          const call = async (...args: never[]) => {
            calls++
            if (when === 'after') await (documents[step] as (...given: never[]) => Promise<unknown>)(...args)
            throw new Error('broken off')
          }
          // As when the process ends there: nothing is tidied.
          return {
            ...drivers,
            to: { ...drivers.to, documents: { ...documents, [step]: call, collect: async () => {} } },
          }
        }
        await expect(move(space, broken), `${when} ${step}`).rejects.toThrow('broken off')
        expect(calls, `${when} ${step}`).toBe(1)
        const target = await to(space)
        const listed = (await contents(target.documents)).flatMap((one) => one.listed)
        for (const document of listed) expect(document.chunks, document.source).toHaveLength(document.chunk_count)
        await target.documents.collect()
        await target.vectors.close()
        await target.documents.close()
      }
    const { moved } = await move(space)
    expect(moved.every(({ pending }) => pending === 0)).toBe(true)
    await assertWhole(space)
  })

  it('keeps what is newer there, replaces what is older, and copies to another base of the same database', async () => {
    const space = newSpace()
    const { knowledge } = await shared.open({ space, embedding: { provider: 'lexical' } })
    await knowledge.ingest({ source: 'guide.md', content: 'Newer.' })
    const { knowledge: earlier } = await shared.open({ space, clock: () => 0, embedding: { provider: 'lexical' } })
    const { document_id } = await earlier.ingest({ source: 'long.md', content: 'Older.' })
    expect((await move(newSpace())).moved[0]).toMatchObject({ kept: 0, unchanged: 0 })
    const { moved } = await move(space)
    expect(moved[0]).toMatchObject({ kept: 1, unchanged: 0 })
    const find = async (source: string) => (await knowledge.listDocuments({ source }, { limit: 1 })).items[0]
    expect(await find('guide.md')).toMatchObject({ chunk_count: 1 })
    expect(await find('long.md')).toMatchObject({ document_id })
    expect((await find('long.md'))?.chunk_count).toBeGreaterThan(1_000)
    expect((await knowledge.search({ query: 'chronicle harbour', mode: 'vector' })).results[0]?.source).toBe('long.md')
    expect(await knowledge.status()).toMatchObject({ pending: 0 })
  })

  it('refuses another embedder before it copies anything, and leaves vectors that are lost to the servers', async () => {
    const other = newSpace()
    const { knowledge: static_ } = await shared.open({ space: other, embedding: { provider: 'static' } })
    await static_.ingest({ source: 'x.md', content: 'Static.', collection: 'notes' })
    await expect(move(other)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('reindex --embedder lexical'),
    })
    expect((await static_.listDocuments({}, { limit: 10 })).items).toHaveLength(1)
    const space = newSpace()
    const { moved } = await move(space, (drivers) => ({
      ...drivers,
      from: { ...drivers.from, vectors: { ...drivers.from.vectors, names: async () => [] } },
    }))
    expect(moved[1]).toMatchObject({ copied: 41, pending: 41 })
    const { knowledge } = await shared.open({ space, embedding: { provider: 'lexical' } })
    await knowledge.search({ query: 'gulls', mode: 'vector', collection: 'notes' })
    await knowledge.status()
    const whole = Object.keys(await localVectors()).length
    await expect.poll(async () => Object.keys(await storedVectors(space)).length, { timeout: 20_000 }).toBe(whole)
    await assertWhole(space)
  })

  it('ends when it is told to', async () => {
    const space = newSpace()
    const stop = new AbortController()
    const stopping = (drivers: MoveDrivers): MoveDrivers => ({
      ...drivers,
      toRows: (chunks) => {
        stop.abort(new Error('stopped'))
        return drivers.toRows(chunks)
      },
    })
    await expect(move(space, stopping, stop.signal)).rejects.toThrow('stopped')
    await move(space)
    await assertWhole(space)
  })
})
