/* The examples of the knowledge base's shapes. */

export const documentId = 'doc_01kcz6s0a2m0x4zs'
export const chunkId = 'chk_01kcz6s0a3m0x4zt'
export const question = 'How large may a request be?'

const at = '2026-01-05T09:30:00.000Z'
const chunk = {
  chunk_id: chunkId,
  document_id: documentId,
  content: '`server.maxRequestSize` is 10 MB by default.',
  source: 'docs/configuration.md',
  metadata: { product: 'agentserve' },
  chunk_index: 3,
  chunk_size: 1000,
  chunk_overlap: 100,
  chunker_type: 'markdown',
  start_offset: 2910,
  end_offset: 2955,
  line_start: 88,
  line_end: 91,
}
export const passage = {
  chunk_id: chunkId,
  document_id: documentId,
  source: 'docs/configuration.md',
  score: 0.91,
  rank: 1,
  lists: { keyword: { rank: 1, score: 0.74 }, lexical: { rank: 2, score: 0.61 } },
  line_start: 88,
  line_end: 91,
  told: true,
}
const neighbour = {
  chunk_id: 'chk_01kcz6s0a3m0x4zs',
  content: '`server.requestTimeout` is 60 s by default.',
  chunk_index: 2,
  start_offset: 2860,
  end_offset: 2908,
  line_start: 85,
  line_end: 86,
}

const document = {
  document_id: documentId,
  source: 'docs/configuration.md',
  name: 'configuration.md',
  media_type: 'text/markdown',
  metadata: { product: 'agentserve' },
  reader_metadata: { chunk_size: 1000, chunk_overlap: 100 },
  content_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  chunk_count: 14,
  chunk_size: 1000,
  chunk_overlap: 100,
  chunker_type: 'markdown',
  collection: 'default',
  created_at: at,
  updated_at: at,
}

export const knowledgeExamples = {
  SearchRequest: { query: question, limit: 5, filters: { product: ['agentserve'] } },
  SearchAnswer: { results: [{ ...chunk, score: 0.91 }], count: 1, mode: 'hybrid' },
  ChunkInDocument: {
    ...chunk,
    before: [{ ...chunk, ...neighbour }],
    after: [],
  },
  ChunkList: { chunks: [{ ...chunk, ...neighbour }, chunk], count: 2, next_cursor: null },
  ContentRequest: {
    content: '# Limits\n\nA request may have 10 MB.\n',
    source: 'notes/limits.md',
    metadata: { product: 'agentserve' },
    chunker_type: 'markdown',
  },
  ContentForm: { file: 'A request may have 10 MB.', source: 'notes/limits.txt', metadata: '{"product":"agentserve"}' },
  IngestAnswer: {
    document_id: documentId,
    chunk_ids: [chunkId],
    chunk_count: 1,
    chunker_type: 'markdown',
    chunk_size: 1000,
    chunk_overlap: 100,
    collection: 'default',
    replaced: false,
    unchanged: false,
  },
  ManyRequest: {
    documents: [
      { source: 'notes/limits.md', content: '# Limits\n\nA request may have 10 MB.\n', media_type: 'text/markdown' },
      { source: 'notes/times.md', content_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    ],
  },
  ManyAnswer: {
    results: [
      { source: 'notes/limits.md', outcome: 'added', document_id: documentId, chunk_count: 1 },
      { source: 'notes/times.md', outcome: 'needed', document_id: null, chunk_count: 0 },
    ],
    count: 2,
  },
  Document: document,
  DocumentList: { documents: [document], count: 1, next_cursor: null },
  DocumentDeleted: { document_id: documentId, deleted: true },
  KnowledgeConfig: {
    available_chunkers: [
      {
        name: 'markdown',
        description: 'Markdown by headings, code blocks and tables whole.',
        default_chunk_size: 1000,
        default_chunk_overlap: 100,
      },
    ],
    default_chunker: 'markdown',
    available_vector_dbs: ['lancedb', 'memory', 'postgres'],
    vector_db: { type: 'lancedb', collection: 'default' },
    embedding_model: { provider: 'static', model: 'docs-en-1', dimensions: 128 },
    rerank: null,
    readers: [{ name: 'markdown', media_types: ['text/markdown'], extensions: ['.md'] }],
    features: { search: true, content: true, documents: true },
    limits: { max_chunk_size: 20000, max_search_limit: 100, max_context: 5, max_request_bytes: 10485760 },
    collection: 'default',
  },
  KnowledgeStatus: {
    collection: 'default',
    documents: 12,
    chunks: 168,
    vectors: 168,
    embedding_model: { provider: 'static', model: 'docs-en-1', dimensions: 128 },
    pending: 0,
  },
  ReindexRequest: { embedder: 'static' },
  ReindexEvent: { type: 'progress', step: 'embed', done: 500, total: 1200 },
}
