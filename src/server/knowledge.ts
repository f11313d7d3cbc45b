import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { Clock } from '../core/time.ts'
import { createKnowledgeDrivers } from '../knowledge/drivers.ts'
import { createKnowledge, type OpenableKnowledge } from '../service/knowledge.ts'
import { createDocumentStore } from '../store/documents.ts'

/** The knowledge base that the configuration asks for; undefined without a vector database. Does no I/O. */
export function composeKnowledge(
  config: ResolvedConfig,
  { clock, logger }: { clock: Clock; logger: Logger },
): OpenableKnowledge | undefined {
  const { vectorDb, embedding, knowledgeApi, maxRequestBytes } = config.server
  if (vectorDb === undefined) return undefined
  const { documentsPath, ...drivers } = createKnowledgeDrivers({
    vectorDb,
    embedding,
    dataFolder: config.dataFolder,
    root: config.root,
  })
  return createKnowledge({
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
    features: knowledgeApi,
    maxRequestBytes,
  })
}
