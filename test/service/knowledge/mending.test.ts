import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { VectorStore, VectorTable } from '../../../src/core/knowledge/drivers.ts'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

let place: KnowledgeFolder
beforeEach(async () => {
  place = await knowledgeFolder()
})
afterEach(() => place.remove())

const minuteMs = 60_000
const sources = ['one', 'two', 'three']
const document = (name: string) => ({ source: `${name}.md`, content: `The lamp of ${name} burns paraffin.` })
const noFailure = async () => {}

interface Watched {
  vectors: VectorStore
  /** Tables that were opened, and names that were dropped, in order. */
  told: string[]
  /** Called before each; what it throws is the store's answer. */
  before: { add: () => Promise<void>; search: () => Promise<void>; drop: (name: string) => Promise<void> }
}

const storedVectors = () => lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })

/** Real vectors that a test can hold up and let fail. */
function watchedVectors(): Watched {
  const real = storedVectors()
  const told: string[] = []
  const before: Watched['before'] = { add: noFailure, search: noFailure, drop: noFailure }
  const watch = (table: VectorTable): VectorTable => ({
    ...table,
    add: async (rows) => {
      await before.add()
      await table.add(rows)
    },
    search: async (...asked) => {
      await before.search()
      return table.search(...asked)
    },
  })
  const vectors: VectorStore = {
    ...real,
    async table(name, dimensions) {
      told.push(`open ${name}`)
      return watch(await real.table(name, dimensions))
    },
    async drop(name) {
      await before.drop(name)
      await real.drop(name)
      told.push(`drop ${name}`)
    },
  }
  return { vectors, told, before }
}

async function filled(): Promise<void> {
  const knowledge = await place.open()
  await knowledge.ingestMany(sources.map(document))
  await knowledge.close()
}

async function filledWithoutVectors(): Promise<void> {
  await filled()
  const vectors = storedVectors()
  for (const name of await vectors.names()) await vectors.drop(name)
  await vectors.close()
}

/** Whether each chunk has one vector in each list. `pass` is called before each look. */
async function whole(knowledge: OpenableKnowledge, vectors: VectorStore, pass = () => {}): Promise<void> {
  const pending = async () => {
    pass()
    return (await knowledge.status()).pending
  }
  await expect.poll(pending, { timeout: 20_000 }).toBe(0)
  expect(await knowledge.status()).toMatchObject({ chunks: sources.length, vectors: sources.length })
  for (const name of await vectors.names())
    expect([...(await (await vectors.table(name, 0)).counts()).values()], name).toEqual(sources.map(() => 1))
}

const broken = async () => {
  throw new Error('the file is damaged')
}

it('opens no vectors while those that are damaged are being removed', async () => {
  await filled()
  const { vectors, told, before } = watchedVectors()
  const knowledge = await place.open({ vectors })
  await knowledge.status()
  const dropping = Promise.withResolvers<void>()
  const mayDrop = Promise.withResolvers<void>()
  before.drop = () => {
    dropping.resolve()
    return mayDrop.promise
  }
  before.search = broken
  told.length = 0
  expect((await knowledge.search({ query: 'lamp' })).results).toHaveLength(3)
  await dropping.promise
  before.search = noFailure
  const status = knowledge.status()
  await knowledge.search({ query: 'lamp', mode: 'keyword' })
  mayDrop.resolve()
  await status
  const names = ['k1_v1', ...told.map((each) => each.split(' ')[1] ?? '').filter((name) => name !== 'k1_v1')]
  const [own, beside] = [...new Set(names)]
  expect(told).toEqual(
    beside === undefined
      ? [`drop ${own}`, `open ${own}`]
      : [`drop ${own}`, `drop ${beside}`, `open ${own}`, `open ${beside}`],
  )
  await whole(knowledge, vectors)
  await knowledge.check()
})

it('ends the writing of missing vectors before their table is removed', async () => {
  await filledWithoutVectors()
  const { vectors, told, before } = watchedVectors()
  const knowledge = await place.open({ vectors })
  const adding = Promise.withResolvers<void>()
  const mayAdd = Promise.withResolvers<void>()
  before.add = async () => {
    before.add = noFailure
    adding.resolve()
    await mayAdd.promise
    told.push('added')
  }
  await knowledge.status()
  await adding.promise
  before.search = broken
  await knowledge.search({ query: 'lamp' })
  before.search = noFailure
  mayAdd.resolve()
  await whole(knowledge, vectors)
  expect(told.indexOf('added')).toBeGreaterThan(0)
  expect(told.indexOf('added')).toBeLessThan(told.findIndex((each) => each.startsWith('drop')))
  await knowledge.check()
})

it('writes missing vectors again later when that failed, each of them once', async () => {
  await filledWithoutVectors()
  let now = Date.now()
  const { vectors, before } = watchedVectors()
  const knowledge = await place.open({ vectors, clock: () => now })
  let failed = 0
  before.add = async () => {
    failed++
    throw new Error('No space left on device')
  }
  expect(await knowledge.status()).toMatchObject({ vectors: 0, pending: 3 })
  await expect.poll(() => failed, { timeout: 10_000 }).toBeGreaterThan(0)
  before.add = noFailure
  expect((await knowledge.search({ query: 'lamp' })).results).toHaveLength(3)
  expect(await knowledge.status()).toMatchObject({ vectors: 0, pending: 3 })
  // The minute begins with the end of the writing that failed, which may be later than its failure.
  await whole(knowledge, vectors, () => {
    now += minuteMs
  })
})

it('leaves the vectors alone when one fails only because it was closed', async () => {
  await filled()
  const { vectors, told, before } = watchedVectors()
  const knowledge = await place.open({ vectors })
  const searching = Promise.withResolvers<void>()
  const mayFail = Promise.withResolvers<void>()
  before.search = async () => {
    searching.resolve()
    await mayFail.promise
    throw new Error('the table is closed')
  }
  const search = knowledge.search({ query: 'lamp', mode: 'vector' })
  await searching.promise
  await knowledge.close()
  await knowledge.open()
  mayFail.resolve()
  await expect(search).rejects.toMatchObject({ code: 'unavailable' })
  before.search = noFailure
  await knowledge.check()
  await whole(knowledge, vectors)
  expect(told.filter((each) => each.startsWith('drop'))).toEqual([])
})

it('keeps the vectors of a new embedder when those before it fail', async () => {
  await filled()
  const { vectors, told, before } = watchedVectors()
  const knowledge = await place.open({ vectors })
  const searching = Promise.withResolvers<void>()
  const mayFail = Promise.withResolvers<void>()
  before.search = async () => {
    before.search = noFailure
    searching.resolve()
    await mayFail.promise
    throw new Error('the table is gone')
  }
  const search = knowledge.search({ query: 'lamp', mode: 'vector' })
  await searching.promise
  await knowledge.reindex()
  told.length = 0
  mayFail.resolve()
  await expect(search).rejects.toMatchObject({ code: 'unavailable' })
  await whole(knowledge, vectors)
  expect(told.filter((each) => /k1_v1\b/.test(each))).toEqual([])
  await knowledge.check()
})

it('keeps the vectors of a new version although those before it can not be removed yet', async () => {
  await filled()
  const { vectors, before } = watchedVectors()
  const knowledge = await place.open({ vectors })
  before.drop = async (name) => {
    if (/^k1_v1\b/.test(name)) throw new Error('EBUSY: resource busy or locked')
  }
  let added = 0
  before.add = async () => void added++
  expect(await knowledge.reindex()).toMatchObject({ vectors: 3, pending: 0 })
  const once = added
  expect((await knowledge.search({ query: 'lamp', mode: 'vector' })).results).toHaveLength(3)
  expect(await knowledge.status()).toMatchObject({ vectors: 3, pending: 0 })
  expect(added).toBe(once)
  expect((await vectors.names()).filter((name) => /^k1_v1\b/.test(name))).not.toEqual([])
  await knowledge.close()
  // Another start removes them.
  const again = await place.open()
  expect(await again.status()).toMatchObject({ vectors: 3, pending: 0 })
  await again.close()
  const left = storedVectors()
  const names = await left.names()
  await left.close()
  expect(names.filter((name) => !/^k1_v2(?:_|$)/.test(name))).toEqual([])
})
