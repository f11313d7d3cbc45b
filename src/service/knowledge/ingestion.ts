import { type ErrorCode, invalid, isAppError } from '../../core/error.ts'
import type { DocumentStore, StoredDocument } from '../../core/knowledge/document-store.ts'
import type { Embedders, Preparer } from '../../core/knowledge/drivers.ts'
import type { IngestInput, IngestItem, IngestOutcome, IngestResult, Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import { createCommits } from './commit.ts'
import { createFind, type DocumentSettings, hashOf, ingestDocument, isUnchanged, result } from './document.ts'
import type { CollectionIndex } from './index-document.ts'
import { assertContent, type ChunkDefaults, parseIngest } from './input.ts'
import type { Lock } from './lock.ts'

/** Maximum size of the content that is prepared or stored at the same time. */
export const bytesAtOnce = 5_000_000
/** Minimum weight of a document: its vectors are much larger than a small text. */
const minBytes = 16_000

export interface IngestionOptions {
  documents: DocumentStore
  embedders: Embedders
  preparer: Preparer
  clock: Clock
  logger: Logger
  /** Used when the caller names no collection. */
  collection: string
  chunkDefaults?: ChunkDefaults | undefined
  lock: Lock
  openCollection(name: string): Promise<CollectionIndex>
  /** Aborts when the knowledge base closes. */
  stopping(): AbortSignal
}

interface Asked {
  signal: AbortSignal | undefined
  caller: string
}

/** Errors about this document alone; any other error concerns all of them. */
const itsOwn = new Set<ErrorCode>(['invalid_request', 'unreadable_document', 'payload_too_large'])

export function createIngestion(options: IngestionOptions): Pick<Knowledge, 'ingest' | 'ingestMany'> {
  const find = createFind(options.documents)
  const drivers = { ...options, commits: createCommits(options) }

  const toSettings = (input: Omit<IngestInput, 'content'>, hash: string): DocumentSettings => {
    const settings = parseIngest(input, options.collection, options.chunkDefaults ?? {})
    return { ...settings, hash, source: settings.source ?? settings.name ?? `text:${hash.slice(0, 16)}` }
  }

  /** Ingests unless `known` answers from what is stored already. */
  const inTurn = <T>(
    content: IngestInput['content'] | undefined,
    settings: DocumentSettings,
    { signal, caller }: Asked,
    known: (previous: StoredDocument | undefined, unchanged: boolean) => T | undefined | Promise<T | undefined>,
  ): Promise<T | IngestResult> => {
    const stop = options.stopping()
    const either = signal ? AbortSignal.any([signal, stop]) : stop
    const bytes = content === undefined ? 0 : Math.max(minBytes, content.length)
    const turn = { key: `${settings.collection}\0${settings.source}`, weight: bytes, caller }
    return options.lock.shared(turn, async () => {
      either.throwIfAborted()
      try {
        const found = await find(settings.collection, settings.source)
        const { previous } = found
        const answer = await known(previous, previous !== undefined && isUnchanged(previous, settings))
        if (answer !== undefined) return answer
        assertContent(content)
        return await ingestDocument(drivers, content, settings, found, { signal: either, caller })
      } catch (error) {
        stop.throwIfAborted()
        throw error
      }
    })
  }

  const ingestItem = async (item: IngestItem, asked: Asked): Promise<IngestOutcome> => {
    const { content, content_hash, ...input } = item
    if (content === undefined && content_hash === undefined) throw invalid('content or content_hash is required')
    if (content !== undefined) assertContent(content)
    const settings = toSettings(input, content === undefined ? (content_hash ?? '') : hashOf(content))
    const { source } = settings
    const answered = await inTurn(content, settings, asked, (previous, unchanged): IngestOutcome | undefined => {
      const outcome = unchanged ? 'unchanged' : content === undefined ? 'needed' : undefined
      const { document_id = null, chunk_count = 0 } = previous ?? {}
      return outcome && { source, outcome, document_id, chunk_count }
    })
    if ('outcome' in answered) return answered
    const { document_id, chunk_count, replaced } = answered
    return { source, outcome: replaced ? 'replaced' : 'added', document_id, chunk_count }
  }

  return {
    async ingest(input, signal, caller = '') {
      assertContent(input.content)
      const settings = toSettings(input, hashOf(input.content))
      return inTurn(input.content, settings, { signal, caller }, async (previous, unchanged) =>
        previous && unchanged
          ? result(previous, await options.documents.chunkIds(previous.generation), false, true)
          : undefined,
      )
    },

    async ingestMany(items, signal, caller = '') {
      const outcomes = items.map((item) =>
        ingestItem(item, { signal, caller }).catch((error: unknown): IngestOutcome => {
          if (!isAppError(error) || !itsOwn.has(error.code)) throw error
          const { code, message } = error
          const source = item.source ?? item.name ?? ''
          return { source, outcome: 'failed', document_id: null, chunk_count: 0, error: { code, message } }
        }),
      )
      // Waits for all of them before it throws, so that no work continues in the background.
      await Promise.allSettled(outcomes)
      return Promise.all(outcomes)
    },
  }
}
