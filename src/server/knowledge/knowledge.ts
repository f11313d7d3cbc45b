import { join } from 'node:path'
import type { PostgresStorage } from '../../config/settings/postgres.ts'
import type { ResolvedConfig } from '../../config/types.ts'
import type { DocumentStore } from '../../core/knowledge/document-store.ts'
import type { VectorStore } from '../../core/knowledge/drivers.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import { createKnowledgeDrivers } from '../../knowledge/drivers.ts'
import { createKnowledge, type OpenableKnowledge } from '../../service/knowledge/knowledge.ts'
import { knowledgeDatabase } from '../../store/documents/postgres/database.ts'
import { postgresDocuments } from '../../store/documents/postgres/store.ts'
import { createDocumentStore } from '../../store/documents/store.ts'
import { type PostgresVectorOptions, postgresVectors } from '../../store/vectors/vectors.ts'

export interface ComposedKnowledge {
  knowledge: OpenableKnowledge
  /** Undefined when the documents are in memory or in a database. */
  documentsPath: string | undefined
}

export interface KnowledgeParts {
  clock: Clock
  logger: Logger
  /** Whether the data folder is this process's own. */
  ownsFolder: boolean
}

/** The configured knowledge base; undefined without a vector database. Does no I/O. */
export function composeKnowledge(
  config: ResolvedConfig,
  { clock, logger, ownsFolder }: KnowledgeParts,
): ComposedKnowledge | undefined {
  const { vectorDb, embedding, knowledgeApi, maxRequestBytes } = config.server
  if (vectorDb === undefined) return undefined
  const { dataFolder, root } = config
  const { documentsPath, ...drivers } = createKnowledgeDrivers({
    vectorDb: vectorDb.type === 'postgres' ? copiesOf(dataFolder, ownsFolder) : vectorDb,
    embedding,
    rerank: config.knowledge.rerank,
    dataFolder,
    root,
  })
  const onWordsForgotten = () => drivers.preparer.forgetWords()
  const stores =
    vectorDb.type === 'postgres'
      ? sharedStores(vectorDb, drivers.vectors, logger)
      : { documents: createDocumentStore({ path: documentsPath, logger, onWordsForgotten }), vectors: drivers.vectors }
  const knowledge = createKnowledge({
    ...drivers,
    ...stores,
    clock,
    logger,
    collection: config.knowledge.collection ?? vectorDb.collectionName,
    chunkDefaults: config.knowledge,
    weights: config.knowledge.weights,
    features: knowledgeApi,
    maxRequestBytes,
  })
  const isFile = vectorDb.type === 'lancedb'
  return { knowledge, documentsPath: isFile ? documentsPath : undefined }
}

/** Where this process searches vectors if the database can't: it has a copy of them. */
function copiesOf(dataFolder: string, ownsFolder: boolean) {
  return ownsFolder
    ? ({ type: 'lancedb', baseUrl: join(dataFolder, 'knowledge', 'shared') } as const)
    : ({ type: 'memory' } as const)
}

/** The knowledge base in a database. Does no I/O. */
export function sharedStores(
  {
    storage,
    tenant,
    database: named,
  }: { storage: PostgresStorage; tenant?: string | undefined; database?: string | undefined },
  copies: VectorStore,
  logger: Logger,
  options: Partial<PostgresVectorOptions> = {},
): { documents: DocumentStore; vectors: VectorStore } {
  const { url, listenUrl, tls, schema, connections, cluster } = storage
  const space = [tenant && `tenant-${tenant}`, named && `database-${named}`].filter(Boolean).join('/')
  const { deadAfterMs } = cluster
  const database = knowledgeDatabase({ url, listenUrl, tls, schema, connections, space, deadAfterMs, logger })
  return { documents: postgresDocuments(database), vectors: postgresVectors({ ...options, database, copies }) }
}
