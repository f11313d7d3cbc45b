import { AppError, notFound } from '../../core/error.ts'
import type { Collection, DocumentStore, StoredDocument } from '../../core/knowledge/document-store.ts'
import type {
  Chunker,
  DownloadProgress,
  Embedders,
  Embedding,
  Preparer,
  Readers,
  Reranker,
  VectorStore,
} from '../../core/knowledge/drivers.ts'
import type { Knowledge, KnowledgeStatus, Reindexing } from '../../core/knowledge/knowledge.ts'
import type { SourceStatus } from '../../core/knowledge/remote-source.ts'
import { sourceWeights } from '../../core/knowledge/weights.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import { createBrought } from './brought.ts'
import { createChunks } from './chunks.ts'
import { describeKnowledge } from './description.ts'
import {
  assertSameEmbedder,
  type CollectionIndex,
  closeEmbedders,
  missingOf,
  openIndex,
  rebuild,
  repair,
  tableNames,
  type VectorList,
} from './index-document.ts'
import { bytesAtOnce, createIngestion } from './ingestion.ts'
import { type ChunkDefaults, collectionName, parseSearch } from './input.ts'
import { createLock } from './lock.ts'
import { createRemoval } from './removal.ts'
import { searchCollection } from './search.ts'
import { createVectorGuard } from './vector-guard.ts'

export interface KnowledgeOptions {
  documents: DocumentStore
  vectors: VectorStore
  embedders: Embedders
  /** Orders the best results anew. */
  reranker?: Reranker | undefined
  readers: Pick<Readers, 'list'>
  chunkers: readonly Pick<Chunker, 'name' | 'description'>[]
  preparer: Preparer
  clock: Clock
  logger: Logger
  /** Default: `default`. */
  collection?: string | undefined
  chunkDefaults?: ChunkDefaults | undefined
  /** By pattern of sources: what the scores of their passages are multiplied by. */
  weights?: Readonly<Record<string, number>> | undefined
  availableVectorDbs: readonly string[]
  features: { search: boolean; content: boolean; documents: boolean }
  maxRequestBytes: number
}

export interface OpenableKnowledge extends Knowledge {
  /** Opens only the document store; vectors and embedder open with the first search or ingestion. */
  open(): Promise<void>
  /** Cancels ingestion and re-embedding, waits for their end, and closes everything. */
  close(): Promise<void>
}

export function createKnowledge(options: KnowledgeOptions): OpenableKnowledge {
  const { documents, vectors, embedders, logger } = options
  const defaultCollection = collectionName(options.collection, 'default')
  const lock = createLock(bytesAtOnce)
  const weightOf = sourceWeights(options.weights)
  const indexes = new Map<number, Promise<CollectionIndex>>()
  const repairs = new Set<Promise<void>>()
  let stopping = new AbortController()
  let tidied: Promise<void> | undefined
  let reindexing: Reindexing | undefined

  /** Once, before the first vector is read or written: removes what a crash left behind. */
  const tidy = async (collection: Collection) => {
    await documents.collect()
    const known = new Set((await documents.collections()).flatMap((each) => tableNames(embedders, each)))
    const names = await vectors.names().catch((error: unknown) => Promise.reject(guard.failed(collection, error)))
    for (const name of names) if (!known.has(name)) await vectors.drop(name)
  }
  const tidyOnce = (collection: Collection) => {
    tidied ??= tidy(collection).catch((error: unknown) => {
      tidied = undefined
      throw error
    })
    return tidied
  }

  const guard = createVectorGuard({
    ...options,
    location: vectors.location,
    rebuild: (collection) =>
      lock.exclusive(async () => {
        if (stopping.signal.aborted) return
        const previous = await indexes.get(collection.key)?.catch(() => undefined)
        indexes.delete(collection.key)
        await closeEmbedders(previous)
        for (const name of tableNames(embedders, collection)) await vectors.drop(name)
        await indexOf(collection)
      }),
  })
  /** Only failures of the vectors count: a missing embedder is no reason to rebuild them. */
  const watchedTables = (collection: Collection): VectorStore => ({
    ...vectors,
    table: (name, dimensions) =>
      vectors.table(name, dimensions).then(
        (table) => guard.watch(collection, table),
        (error: unknown) => Promise.reject(guard.failed(collection, error)),
      ),
  })
  const openWithRepair = async (collection: Collection): Promise<CollectionIndex> => {
    await tidyOnce(collection)
    const index = await openIndex({ ...options, vectors: watchedTables(collection) }, collection)
    const missing = missingOf(index)
    if (missing > 0) {
      logger.info({ collection: collection.name, documents: missing }, 'writing missing vectors')
      const work: Promise<void> = repair(options, index, stopping.signal).finally(() => repairs.delete(work))
      repairs.add(work)
    }
    return index
  }
  const indexOf = (collection: Collection): Promise<CollectionIndex> => {
    const open = indexes.get(collection.key)
    if (open) return open
    const opening = openWithRepair(collection).catch((error: unknown) => {
      indexes.delete(collection.key)
      throw error
    })
    indexes.set(collection.key, opening)
    return opening
  }
  const openCollection = async (name: string): Promise<CollectionIndex> => {
    const known = await documents.findCollection(name)
    return indexOf(known ?? (await documents.ensureCollection(name, await embedders.resolve())))
  }
  const stoppable = (signal: AbortSignal | undefined) =>
    signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal

  const ingestion = createIngestion({
    ...options,
    collection: defaultCollection,
    lock,
    openCollection,
    stopping: () => stopping.signal,
  })

  const removal = createRemoval({ documents, lock, indexOf })

  /** The embedding that the default collection uses, or would use. */
  const embeddingInUse = async (): Promise<Embedding> => {
    const known = await documents.findCollection(defaultCollection)
    if (known) return known.embedding
    const { provider, model } = embedders.configured
    if (provider === 'openai') return { provider, model: model ?? '', dimensions: 0 }
    return embedders.resolve().catch(() => ({ provider, model: model ?? '', dimensions: 0 }))
  }

  let remote: readonly SourceStatus[] = []
  const status = async (): Promise<KnowledgeStatus> => {
    const collection = await documents.findCollection(defaultCollection)
    const embedding = await embeddingInUse()
    const work = { ...(reindexing && { reindexing }), ...(remote.length > 0 && { sources: [...remote] }) }
    if (!collection)
      return {
        collection: defaultCollection,
        documents: 0,
        chunks: 0,
        vectors: 0,
        embedding_model: embedding,
        pending: 0,
        ...work,
      }
    const index = await indexOf(collection)
    const totals = await documents.totals(collection.key)
    return {
      collection: defaultCollection,
      ...totals,
      vectors: (await index.lists[0]?.table.count()) ?? 0,
      embedding_model: embedding,
      pending: missingOf(index),
      ...work,
    }
  }

  const reindexCollection = async (
    collection: Collection,
    provider: string | undefined,
    signal: AbortSignal,
    progress: (chunks: number) => void,
  ): Promise<void> => {
    await tidyOnce(collection)
    const configured = embedders.configured.provider === 'auto' ? collection.embedding.provider : undefined
    const embedding = await embedders.resolve(provider ?? configured)
    const rebuilt = await rebuild(options, collection, embedding, signal, progress)
    await lock.exclusive(async () => {
      const previous = await indexes.get(collection.key)?.catch(() => undefined)
      try {
        const finished = rebuilt.finish().then((index) => {
          guard.succeeded(collection)
          const watch = (list: VectorList) => ({ ...list, table: guard.watch(index.collection, list.table) })
          return { ...index, lists: index.lists.map(watch) }
        })
        indexes.set(collection.key, finished)
        await finished
      } catch (error) {
        indexes.delete(collection.key)
        await rebuilt.discard()
        throw error
      }
      await closeEmbedders(previous)
    })
  }

  return {
    async open() {
      await documents.open()
      const problem = await options.reranker?.problem()
      if (problem !== undefined)
        logger.warn({ model: options.reranker?.model }, `search results are not reranked: ${problem}`)
      for (const { name, embedding } of await documents.collections()) {
        const lacking = await embedders.problem(embedding)
        if (lacking !== undefined)
          logger.warn({ collection: name, embedder: embedding.model }, `searches find words only: ${lacking}`)
      }
    },

    async close() {
      stopping.abort(new AppError('unavailable', 'The knowledge base is closing.', { retryAfterSeconds: 1 }))
      await guard.idle()
      await lock.exclusive(async () => {
        await Promise.all(repairs)
        for (const index of indexes.values()) await index.then(closeEmbedders).catch(() => undefined)
        indexes.clear()
        tidied = undefined
        await options.preparer.close()
        await options.reranker?.close()
        await vectors.close()
        await documents.close()
      })
      stopping = new AbortController()
    },

    async search(query, signal) {
      const settings = parseSearch(query, defaultCollection)
      const collection = await documents.findCollection(settings.collection)
      if (!collection && settings.named) throw notFound('collection', settings.collection)
      const { mode, trace } = settings
      const empty = { collection: settings.collection, words: [], candidates: [] }
      if (!collection) return { results: [], mode, ...(trace ? { trace: empty } : {}) }
      const index = mode === 'keyword' ? undefined : () => indexOf(collection)
      const drivers = { documents, embedders, weightOf, reranker: options.reranker }
      return searchCollection(drivers, collection, index, settings, signal)
    },

    ingest: ingestion.ingest,
    ingestFile: ingestion.ingestFile,
    ingestMany: ingestion.ingestMany,

    async config() {
      return describeKnowledge(options, defaultCollection, await embeddingInUse())
    },

    async listDocuments(filter, page) {
      const name = filter.collection
      const collection = name === undefined ? undefined : await documents.findCollection(collectionName(name, name))
      if (name !== undefined && !collection) throw notFound('collection', name)
      const found = await documents.listDocuments({ collection: collection?.key, source: filter.source }, page)
      return { items: found.items.map(toRecord), next: found.next }
    },

    getDocument: async (documentId) => toRecord(await documents.getDocument(documentId)),

    deleteDocument: removal.deleteDocument,
    ...createChunks(documents),
    brought: createBrought(documents, defaultCollection, removal.removeDocument),
    tellSources: (sources) => {
      remote = sources
    },

    async reindex({ embedder, progress = () => {}, signal } = {}) {
      if (reindexing !== undefined) throw new AppError('conflict', 'The knowledge base is being reindexed already.')
      const tell = (now: Reindexing) => {
        reindexing = now
        progress(now)
      }
      reindexing = { step: 'embed', done: 0, total: 0 }
      const download = ({ loadedBytes, totalBytes }: DownloadProgress) =>
        tell({ step: 'download', done: loadedBytes, total: totalBytes })
      try {
        if (embedder !== undefined)
          await embedders.download(embedder, { progress: download, signal: stoppable(signal) })
        const { chunks: total } = await documents.totals()
        let done = 0
        const count = (chunks: number) => {
          done += chunks
          tell({ step: 'embed', done, total: Math.max(done, total) })
        }
        count(0)
        for (const collection of await documents.collections())
          await reindexCollection(collection, embedder, stoppable(signal), count)
      } finally {
        reindexing = undefined
      }
      const collection = await documents.findCollection(defaultCollection)
      if (collection) await indexOf(collection)
      return status()
    },

    status,

    async check() {
      await documents.check()
      guard.check()
      const collection = await documents.findCollection(defaultCollection)
      if (collection) assertSameEmbedder(embedders.configured, collection)
    },
  }
}

function toRecord({ generation: _generation, ...record }: StoredDocument) {
  return record
}
