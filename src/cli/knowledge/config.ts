import type { KnowledgeConfig } from '../../core/knowledge/knowledge.ts'
import { formatFields } from '../terminal/fields.ts'
import { formatTable } from '../terminal/table.ts'

export function formatKnowledgeConfig(config: KnowledgeConfig): string {
  const { collection, vector_db, embedding_model, available_vector_dbs, default_chunker, limits, rerank } = config
  const { provider, model, dimensions } = embedding_model
  const reranker: [string, string][] = rerank === null ? [] : [['reranker', formatReranker(rerank)]]
  const about = formatFields([
    ['collection', collection],
    ['vector database', `${vector_db.type} (available: ${available_vector_dbs.join(', ')})`],
    ['embedder', `${provider === model ? model : `${provider} ${model}`} (${dimensions} dimensions)`],
    ...reranker,
    ['chunker', `${default_chunker}, unless the format has its own`],
    ['limits', `${limits.max_chunk_size} characters per chunk, ${limits.max_search_limit} results per search`],
  ])
  const chunkers = config.available_chunkers.map((one) => [
    one.name,
    `${one.default_chunk_size}, ${one.default_chunk_overlap}`,
    one.description,
  ])
  const readers = config.readers.map(({ name, extensions }) => [name, extensions.join(' ')])
  return [
    about,
    formatTable(['CHUNKER', 'SIZE, OVERLAP', 'WHAT IT DOES'], chunkers),
    formatTable(['READER', 'FILES'], readers),
  ].join('\n')
}

function formatReranker({ model, candidates, timeout_ms, problem }: NonNullable<KnowledgeConfig['rerank']>): string {
  const most = `the best ${candidates} results, ${timeout_ms / 1000} s at most`
  return problem === null ? `${model} (${most})` : `${model} (not used: ${problem})`
}
