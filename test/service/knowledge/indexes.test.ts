import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createEmbedders } from '../../../src/knowledge/embedders/all.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import { createLock } from '../../../src/service/knowledge/lock.ts'
import { createVectorGuard } from '../../../src/service/knowledge/vectors/guard.ts'
import { createIndexes } from '../../../src/service/knowledge/vectors/indexes.ts'
import { createDocumentStore } from '../../../src/store/documents/store.ts'

test('close, although a search has just found that another server has reindexed', async () => {
  const logger = silentLogger
  const lock = createLock(1)
  const documents = createDocumentStore({ path: ':memory:', logger, onWordsForgotten: () => {} })
  await documents.open()
  const closed: number[] = []
  const lexical = createEmbedders({ provider: 'lexical' })
  const embedders = {
    ...lexical,
    open: async (...asked: Parameters<typeof lexical.open>) => {
      const embedder = await lexical.open(...asked)
      return { ...embedder, close: async () => void closed.push(1) }
    },
  }
  const stopping = new AbortController().signal
  const guard = createVectorGuard({
    ...{ location: 'memory', clock: Date.now, logger },
    ...{ stopping: () => stopping, rebuild: async () => {} },
  })
  const indexes = createIndexes({
    ...{ documents, vectors: memoryVectors(), embedders, logger, lock, clock: Date.now },
    ...{ stopping: () => stopping, guard: () => guard },
  })
  const collection = await documents.ensureCollection('c', await embedders.resolve())
  await indexes.of(collection)
  const begun = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const work = lock.shared({ key: 'k', weight: 1, caller: 'c' }, () => {
    begun.resolve()
    return mayEnd.promise
  })
  await begun.promise
  const closing = lock.exclusive(() => indexes.close())
  await indexes.of({ ...collection, version: collection.version + 1 })
  expect(closed).toHaveLength(0)
  mayEnd.resolve()
  await work
  await closing
  expect(closed).toHaveLength(2)
  await documents.close()
})
