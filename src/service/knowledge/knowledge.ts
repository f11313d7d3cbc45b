import { AppError, notFound } from '../../core/error.ts'
import type { DocumentStore, StoredDocument, Works } from '../../core/knowledge/document-store.ts'
import type {
  Chunker,
  Embedders,
  Embedding,
  Preparer,
  Readers,
  Reranker,
  VectorStore,
} from '../../core/knowledge/drivers.ts'
import type { Knowledge, KnowledgeStatus, SearchQuery, SearchResult } from '../../core/knowledge/knowledge.ts'
import type { SourceStatus } from '../../core/knowledge/remote-source.ts'
import { sourceWeights } from '../../core/knowledge/weights.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import { closeAll } from '../../runtime/close-all.ts'
import { createBrought } from './brought.ts'
import { createChunks } from './chunks.ts'
import { describeKnowledge } from './description.ts'
import { bytesAtOnce, createIngestion } from './ingestion.ts'
import { type ChunkDefaults, collectionName, parseSearch } from './input.ts'
import { createLock } from './lock.ts'
import { createRemoval } from './removal.ts'
import { searchCollection } from './search.ts'
import { createVectorGuard } from './vectors/guard.ts'
import { assertSameEmbedder, missingIn, missingOf } from './vectors/index-document.ts'
import { createIndexes } from './vectors/indexes.ts'
import { createReindexing } from './vectors/reindexing.ts'

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
  /** What one of several servers does; absent: this one is alone. */
  readonly works?: Works | undefined
  /** Opens only the document store; vectors and embedder open with the first search or ingestion. */
  open(): Promise<void>
  /** Cancels ingestion and re-embedding, waits for their end, and closes everything. */
  close(): Promise<void>
}

const maxSearches = 5

export function createKnowledge(options: KnowledgeOptions): OpenableKnowledge {
  const { documents, vectors, embedders, logger } = options
  const defaultCollection = collectionName(options.collection, 'default')
  const lock = createLock(bytesAtOnce)
  const weightOf = sourceWeights(options.weights)
  let stopping = new AbortController()
  const indexes = createIndexes({ ...options, lock, stopping: () => stopping.signal, guard: () => guard })
  const guard = createVectorGuard({
    ...options,
    location: vectors.location,
    stopping: () => stopping.signal,
    rebuild: indexes.rebuild,
  })
  const reindexing = createReindexing({ ...options, lock, indexes, guard })
  const stoppable = (signal: AbortSignal | undefined) =>
    signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal

  const ingestion = createIngestion({
    ...options,
    collection: defaultCollection,
    lock,
    openCollection: indexes.byName,
    stopping: () => stopping.signal,
  })

  const removal = createRemoval({ documents, lock, logger, indexOf: indexes.of })

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
    const now = await reindexing.now()
    const work = { ...(now && { reindexing: now }), ...(remote.length > 0 && { sources: [...remote] }) }
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
    const index = await indexes.of(collection)
    if (vectors.atomic)
      for (const list of index.lists) list.missing = await missingIn(options, index.collection, list.table)
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

  const search = async (query: SearchQuery, signal: AbortSignal | undefined): Promise<SearchResult> => {
    const settings = parseSearch(query, defaultCollection)
    const { mode, trace } = settings
    const drivers = { documents, embedders, weightOf, reranker: options.reranker }
    for (let attempts = 1; ; attempts++) {
      const collection = await documents.findCollection(settings.collection)
      if (!collection && settings.named) throw notFound('collection', settings.collection)
      const empty = { collection: settings.collection, words: [], candidates: [] }
      if (!collection) return { results: [], mode, ...(trace ? { trace: empty } : {}) }
      const index = mode === 'keyword' ? undefined : () => indexes.of(collection)
      try {
        return await searchCollection(drivers, collection, index, settings, signal)
      } catch (error) {
        // Another server has reindexed it meanwhile: the vectors are elsewhere.
        if (!vectors.atomic || attempts === maxSearches || signal?.aborted) throw error
        const now = await documents.findCollection(settings.collection)
        if (now?.version === collection.version) throw error
      }
    }
  }

  return {
    works: documents.works,

    async open() {
      if (stopping.signal.aborted) stopping = new AbortController()
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
      await lock.exclusive(() =>
        closeAll(
          indexes.close,
          () => options.preparer.close(),
          async () => options.reranker?.close(),
          () => vectors.close(),
          () => documents.close(),
        ),
      )
    },

    search,

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

    async reindex({ signal, ...asked } = {}) {
      await reindexing.reindex(asked, stoppable(signal))
      const collection = await documents.findCollection(defaultCollection)
      if (collection) await indexes.of(collection)
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
