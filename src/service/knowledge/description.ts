import type { Embedding } from '../../core/knowledge/drivers.ts'
import type { KnowledgeConfig } from '../../core/knowledge/knowledge.ts'
import { defaultChunkOverlap, defaultChunkSize, knowledgeLimits } from '../../core/knowledge/limits.ts'
import type { KnowledgeOptions } from './knowledge.ts'

export async function describeKnowledge(
  options: KnowledgeOptions,
  collection: string,
  embedding: Embedding,
): Promise<KnowledgeConfig> {
  const { reranker } = options
  const size = options.chunkDefaults?.chunkSize ?? defaultChunkSize
  const overlap = options.chunkDefaults?.chunkOverlap ?? defaultChunkOverlap(size)
  return {
    available_chunkers: options.chunkers.map(({ name, description }) => ({
      name,
      description,
      default_chunk_size: size,
      default_chunk_overlap: overlap,
    })),
    default_chunker: 'paragraph',
    available_vector_dbs: [...options.availableVectorDbs],
    vector_db: { type: options.vectors.type, collection },
    embedding_model: embedding,
    rerank: reranker
      ? {
          model: reranker.model,
          candidates: reranker.candidates,
          timeout_ms: reranker.timeoutMs,
          problem: (await reranker.problem()) ?? null,
        }
      : null,
    readers: options.readers.list(),
    features: { ...options.features },
    limits: {
      max_chunk_size: knowledgeLimits.chunkSize,
      max_search_limit: knowledgeLimits.search,
      max_context: knowledgeLimits.context,
      max_request_bytes: options.maxRequestBytes,
    },
    collection,
  }
}
