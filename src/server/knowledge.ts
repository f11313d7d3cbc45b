import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { Clock } from '../core/time.ts'
import { createKnowledgeDrivers } from '../knowledge/drivers.ts'
import { createKnowledge, type OpenableKnowledge } from '../service/knowledge/knowledge.ts'
import { createDocumentStore } from '../store/documents/store.ts'

export interface ComposedKnowledge {
  knowledge: OpenableKnowledge
  /** Undefined when the documents are in memory. */
  documentsPath: string | undefined
}

/** The configured knowledge base; undefined without a vector database. Does no I/O. */
export function composeKnowledge(
  config: ResolvedConfig,
  { clock, logger }: { clock: Clock; logger: Logger },
): ComposedKnowledge | undefined {
  const { vectorDb, embedding, knowledgeApi, maxRequestBytes } = config.server
  if (vectorDb === undefined) return undefined
  const { documentsPath, ...drivers } = createKnowledgeDrivers({
    vectorDb,
    embedding,
    rerank: config.knowledge.rerank,
    dataFolder: config.dataFolder,
    root: config.root,
  })
  const knowledge = createKnowledge({
    ...drivers,
    documents: createDocumentStore({
      path: documentsPath,
      logger,
      onWordsForgotten: () => drivers.preparer.forgetWords(),
    }),
    clock,
    logger,
    collection: config.knowledge.collection ?? vectorDb.collectionName,
    chunkDefaults: config.knowledge,
    weights: config.knowledge.weights,
    features: knowledgeApi,
    maxRequestBytes,
  })
  return { knowledge, documentsPath: documentsPath === ':memory:' ? undefined : documentsPath }
}
