import type { Embedding } from '../../core/knowledge/drivers.ts'
import type { KnowledgeConfig } from '../../core/knowledge/knowledge.ts'
import { defaultChunkOverlap, defaultChunkSize, knowledgeLimits } from '../../core/knowledge/limits.ts'
import type { KnowledgeOptions } from './knowledge.ts'

export function describeKnowledge(
  options: KnowledgeOptions,
  collection: string,
  embedding: Embedding,
): KnowledgeConfig {
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
