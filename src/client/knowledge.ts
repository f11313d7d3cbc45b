import { AppError } from '../core/error.ts'
import type { Filters } from '../core/knowledge/filter.ts'
import type { IngestResult, Reindexing, SearchMode } from '../core/knowledge/knowledge.ts'
import type {
  ChunkInDocument,
  ChunkList,
  ContentRequest,
  Document,
  DocumentDeleted,
  DocumentList,
  KnowledgeConfig,
  KnowledgeStatus,
  ManyAnswer,
  ManyRequest,
  ReindexEvent,
} from '../wire/knowledge.ts'
import type { SearchAnswer } from '../wire/search.ts'
import type { CallOptions, Connection, KeyedOptions, PageOptions } from './transport/connection.ts'
import { toStreamedError } from './transport/error.ts'
import { toMultipart } from './transport/multipart.ts'
import { readEvents } from './transport/stream.ts'

export interface SearchSettings {
  /** 1–100, default 10. */
  limit?: number | undefined
  filters?: Filters | undefined
  mode?: SearchMode | undefined
  /** Number of neighbouring chunks around each result, 0–5. */
  context?: number | undefined
  collection?: string | undefined
  /** Adds `explain` to each result, and `trace` to the answer. */
  explain?: boolean | undefined
}

export type IngestSettings = Omit<ContentRequest, 'content'>
/** Text, or the bytes of a file with its name. The server selects the reader by the file extension. */
export type IngestContent = { text: string } | { bytes: Uint8Array; filename: string; mediaType?: string | undefined }

export interface ReindexOptions extends CallOptions {
  /** Called with the progress: first bytes of the model download, then chunks. */
  onProgress?: ((now: Reindexing) => void) | undefined
}

export interface KnowledgeClient {
  /** The matching passages, best first. */
  search(query: string, settings?: SearchSettings, options?: CallOptions): Promise<SearchAnswer>
  /** The available and the configured components. Never contains a key. */
  config(options?: CallOptions): Promise<KnowledgeConfig>
  /** The number of documents, chunks and vectors, and how many documents have no vectors yet. */
  status(options?: CallOptions): Promise<KnowledgeStatus>
  /** The same `source` replaces the document; the same content is `unchanged`. Throws `unreadable_document` for unreadable content. */
  ingest(content: IngestContent, settings?: IngestSettings, options?: KeyedOptions): Promise<IngestResult>
  /** Ingests many texts. A text that can't be ingested is reported in its own outcome. */
  ingestMany(request: ManyRequest, options?: CallOptions): Promise<ManyAnswer>
  /** Embeds everything again, with the named embedder if given. It has no time limit and stops if the call is aborted. */
  reindex(embedder?: string, options?: ReindexOptions): Promise<KnowledgeStatus>
  documents: DocumentsClient
  /** A chunk with up to `context` (0–5) chunks before and after it. Throws `chunk_not_found` after its document was replaced. */
  chunk(chunkId: string, options?: CallOptions & { context?: number | undefined }): Promise<ChunkInDocument>
  /** The chunks of a document, in order. */
  chunks(documentId: string, options?: PageOptions): Promise<ChunkList>
}

export interface DocumentsClient {
  list(
    filter?: { source?: string | undefined; collection?: string | undefined },
    options?: PageOptions,
  ): Promise<DocumentList>
  get(documentId: string, options?: CallOptions): Promise<Document>
  delete(documentId: string, options?: CallOptions): Promise<DocumentDeleted>
}

/** Without what adds documents. */
export type PageKnowledgeClient = Omit<KnowledgeClient, 'config' | 'ingest' | 'ingestMany'>

export function createPageKnowledgeClient(connection: Connection, prefix: string): PageKnowledgeClient {
  const path = `${prefix}/knowledge`
  const documentPath = (documentId: string) => `${path}/documents/${encodeURIComponent(documentId)}`
  return {
    search: (query, settings, options) =>
      connection.post(`${path}/search`, { query, ...settings }, 'safe', { ...options, long: true }),
    status: (options) => connection.get(`${path}/status`, options),
    async reindex(embedder, { onProgress, ...options } = {}) {
      const answer = await connection.open({
        ...options,
        method: 'POST',
        path: `${path}/reindex`,
        body: { embedder },
        repeat: 'safe',
        long: true,
      })
      try {
        for await (const { event } of readEvents<ReindexEvent>(answer, connection)) {
          if (event.type === 'done') return event.status
          if (event.type === 'error') throw toStreamedError(event.error)
          const { type: _type, ...now } = event
          onProgress?.(now)
        }
      } catch (error) {
        options.signal?.throwIfAborted()
        throw error
      }
      throw new AppError('unavailable', `The stream from ${connection.name} ended early.`)
    },
    chunk: (chunkId, { context, ...options } = {}) =>
      connection.get(`${path}/chunks/${encodeURIComponent(chunkId)}`, options, { context }),
    chunks: (documentId, options) => connection.list(`${documentPath(documentId)}/chunks`, undefined, options),
    documents: {
      list: (filter, options) => connection.list(`${path}/documents`, filter, options),
      get: (documentId, options) => connection.get(documentPath(documentId), options),
      delete: (documentId, options) => connection.delete(documentPath(documentId), options),
    },
  }
}

export function createKnowledgeClient(connection: Connection, prefix: string): KnowledgeClient {
  const path = `${prefix}/knowledge`
  return {
    ...createPageKnowledgeClient(connection, prefix),
    config: (options) => connection.get(`${path}/config`, options),
    async ingest(content, settings = {}, options) {
      const call = { ...options, method: 'POST', path: `${path}/content`, repeat: 'keyed', long: true } as const
      if ('text' in content) return connection.json({ ...call, body: { content: content.text, ...settings } })
      return connection.json({ ...call, raw: await toForm(content, settings) })
    },
    ingestMany: (request, options) => connection.post(`${path}/documents`, request, 'safe', { ...options, long: true }),
  }
}

function toForm(
  { bytes, filename, mediaType }: Extract<IngestContent, { bytes: Uint8Array }>,
  settings: IngestSettings,
): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const form = new FormData()
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined) form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  form.append('file', new Blob([new Uint8Array(bytes)], { type: mediaType ?? '' }), filename)
  return toMultipart(form)
}
