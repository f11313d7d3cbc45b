import { z } from 'zod'
import type {
  Chunk as CoreChunk,
  ChunkInDocument as CoreChunkInDocument,
  KnowledgeConfig as CoreConfig,
  IngestOutcome as CoreOutcome,
  KnowledgeStatus as CoreStatus,
  DocumentRecord,
  IngestResult,
} from '../core/knowledge/knowledge.ts'
import { chunkerTypes } from '../core/knowledge/knowledge.ts'
import { knowledgeLimits } from '../core/knowledge/limits.ts'
import { chunkSettings, collection, documentFields, documentSettings, notBlank } from '../schema/knowledge.ts'
import { jsonObject, text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { RunError } from './event.ts'
import { listOf, pageQuery } from './list.ts'

/** The fields of a chunk. */
export const chunk = {
  chunk_id: z.string(),
  document_id: z.string(),
  content: z.string(),
  source: z.string(),
  metadata: jsonObject(),
  chunk_index: z.int(),
  chunk_size: z.int(),
  chunk_overlap: z.int(),
  chunker_type: z.enum(chunkerTypes),
  start_offset: z.int(),
  end_offset: z.int(),
  line_start: z.int().exactOptional(),
  line_end: z.int().exactOptional(),
  page: z.int().exactOptional(),
}

export const Chunk = component('Chunk', z.object(chunk)) satisfies z.ZodType<CoreChunk>
export type Chunk = z.infer<typeof Chunk>

export const ChunkInDocument = component(
  'ChunkInDocument',
  z.object({
    ...chunk,
    before: z.array(Chunk).describe('The preceding chunks of the document, in order.'),
    after: z.array(Chunk).describe('The chunks that follow it, in order.'),
  }),
) satisfies z.ZodType<CoreChunkInDocument>
export type ChunkInDocument = z.infer<typeof ChunkInDocument>

export const ChunkQuery = chunkSettings

export const ChunkList = component('ChunkList', listOf('chunks', Chunk))
export type ChunkList = z.infer<typeof ChunkList>

export const ChunksQuery = z.object(pageQuery)

export const ContentRequest = component('ContentRequest', documentSettings({ content: notBlank(), ...documentFields }))
export type ContentRequest = z.input<typeof ContentRequest>

/** The settings of a file or plain text: form fields or query parameters. */
export const ContentSettings = documentSettings(documentFields)

export const ContentForm = component(
  'ContentForm',
  z.object({
    file: z.string().meta({ format: 'binary' }),
    ...documentFields,
    metadata: z.string().optional().describe('A JSON object as text.'),
  }),
)

export const IngestAnswer = component(
  'IngestAnswer',
  z.object({
    document_id: z.string(),
    chunk_ids: z.array(z.string()),
    chunk_count: z.int(),
    chunker_type: z.enum(chunkerTypes),
    chunk_size: z.int(),
    chunk_overlap: z.int(),
    collection: z.string(),
    replaced: z.boolean(),
    unchanged: z.boolean(),
  }),
) satisfies z.ZodType<IngestResult>
export type IngestAnswer = z.infer<typeof IngestAnswer>

const { collection: _collection, ...ownFields } = documentFields
/** The limit is told here, but a text beyond it fails its own document and not the whole request. */
const label = text().meta({ maxLength: knowledgeLimits.label })

export const ManyRequest = component(
  'ManyRequest',
  z
    .object({
      documents: z
        .array(
          z.object({
            ...ownFields,
            name: label.optional().meta({ description: documentFields.name.description }),
            source: label,
            metadata: jsonObject().optional(),
            content: text(0)
              .optional()
              .describe('Omit it to ask whether content with this `content_hash` is already stored.'),
            content_hash: text(64, 64).optional().describe('SHA-256 of the bytes in hexadecimal.'),
            media_type: label.optional(),
          }),
        )
        .min(1)
        .max(1000),
      collection,
    })
    .describe('Text documents to add or replace.'),
)
export type ManyRequest = z.input<typeof ManyRequest>

const IngestOutcome = component(
  'IngestOutcome',
  z.object({
    source: z.string(),
    outcome: z
      .enum(['added', 'replaced', 'unchanged', 'needed', 'failed'])
      .describe('`needed`: the document is new or has changed, but the request had no content.'),
    document_id: z.string().nullable(),
    chunk_count: z.int(),
    error: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  }),
) satisfies z.ZodType<CoreOutcome>

export const ManyAnswer = component('ManyAnswer', z.object({ results: z.array(IngestOutcome), count: z.int() }))
export type ManyAnswer = z.infer<typeof ManyAnswer>

export const Document = component(
  'Document',
  z.object({
    document_id: z.string(),
    source: z.string(),
    name: z.string().nullable(),
    media_type: z.string().nullable(),
    metadata: jsonObject(),
    reader_metadata: jsonObject().describe('Metadata from the reader, including `chunk_size` and `chunk_overlap`.'),
    content_hash: z.string(),
    chunk_count: z.int(),
    chunk_size: z.int(),
    chunk_overlap: z.int(),
    chunker_type: z.enum(chunkerTypes),
    collection: z.string(),
    created_at: timestamp(),
    updated_at: timestamp(),
  }),
) satisfies z.ZodType<DocumentRecord>
export type Document = z.infer<typeof Document>

export const DocumentList = component('DocumentList', listOf('documents', Document))
export type DocumentList = z.infer<typeof DocumentList>

export const DocumentsQuery = z.object({ source: text().optional(), collection, ...pageQuery })

export const DocumentDeleted = component(
  'DocumentDeleted',
  z.object({ document_id: z.string(), deleted: z.literal(true) }),
)
export type DocumentDeleted = z.infer<typeof DocumentDeleted>

const EmbeddingModel = component(
  'EmbeddingModel',
  z.object({ provider: z.string(), model: z.string(), dimensions: z.int() }),
)

export const KnowledgeConfig = component(
  'KnowledgeConfig',
  z.object({
    available_chunkers: z.array(
      z.object({
        name: z.enum(chunkerTypes),
        description: z.string(),
        default_chunk_size: z.int(),
        default_chunk_overlap: z.int(),
      }),
    ),
    default_chunker: z.enum(chunkerTypes),
    available_vector_dbs: z.array(z.string()),
    vector_db: z.object({ type: z.string(), collection: z.string() }),
    embedding_model: EmbeddingModel,
    rerank: z
      .object({
        model: z.string(),
        candidates: z.int(),
        timeout_ms: z.int(),
        problem: z.string().nullable().describe('Why searches go on without it.'),
      })
      .nullable()
      .describe('The cross-encoder that orders the best results of hybrid searches anew.'),
    readers: z.array(z.object({ name: z.string(), media_types: z.array(z.string()), extensions: z.array(z.string()) })),
    features: z.object({ search: z.boolean(), content: z.boolean(), documents: z.boolean() }),
    limits: z.object({
      max_chunk_size: z.int(),
      max_search_limit: z.int(),
      max_context: z.int(),
      max_request_bytes: z.int(),
    }),
    collection: z.string(),
  }),
) satisfies z.ZodType<CoreConfig>
export type KnowledgeConfig = z.infer<typeof KnowledgeConfig>

const reindexing = { step: z.enum(['download', 'embed']), done: z.int(), total: z.int() }

export const KnowledgeStatus = component(
  'KnowledgeStatus',
  z.object({
    collection: z.string(),
    documents: z.int(),
    chunks: z.int(),
    vectors: z.int(),
    embedding_model: EmbeddingModel,
    pending: z.int().describe('The number of documents whose vectors are not written yet.'),
    reindexing: z
      .object(reindexing)
      .optional()
      .describe('The progress of a reindex: first the bytes of the model download, then the chunks.'),
    sources: z
      .array(
        z.object({
          source: z.string(),
          state: z.enum(['waiting', 'fetching', 'ok', 'failed']),
          documents: z.int(),
          failed: z.int().describe('The number of pages or files that could not be ingested the last time.'),
          reason: z.string().optional().describe('Why the source failed, or the first of its pages that did.'),
          fetched_at: z.string().optional(),
          next_at: z.string().optional(),
        }),
      )
      .optional()
      .describe('The websites and repositories of the configuration.'),
  }),
) satisfies z.ZodType<CoreStatus>
export type KnowledgeStatus = z.infer<typeof KnowledgeStatus>

export const ReindexRequest = component(
  'ReindexRequest',
  z.object({ embedder: text(1, 100).optional().describe('The embedder to switch to.') }),
)
export type ReindexRequest = z.input<typeof ReindexRequest>

/** An event of a streamed reindex. */
export const ReindexEvent = component(
  'ReindexEvent',
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('progress'), ...reindexing }),
    z.object({ type: z.literal('done'), status: KnowledgeStatus }),
    z.object({ type: z.literal('error'), error: RunError }),
  ]),
)
export type ReindexEvent = z.infer<typeof ReindexEvent>
