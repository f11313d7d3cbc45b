import { type ErrorCode, invalid, isAppError } from '../../core/error.ts'
import { type DocumentStore, StaleCollection, type StoredDocument } from '../../core/knowledge/document-store.ts'
import type { Embedders, FileContent, Preparer } from '../../core/knowledge/drivers.ts'
import type { IngestInput, IngestItem, IngestOutcome, IngestResult, Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import { createCommits } from './commit.ts'
import {
  createFind,
  type DocumentSettings,
  type FoundDocument,
  hashOf,
  ingestDocument,
  isUnchanged,
  result,
} from './document.ts'
import { assertContent, type ChunkDefaults, parseIngest } from './input.ts'
import type { Lock } from './lock.ts'
import { ingestLong } from './long-document.ts'
import type { CollectionIndex } from './vectors/index-document.ts'

/** Maximum size of the content that is prepared or stored at the same time. */
export const bytesAtOnce = 5_000_000
/** Minimum weight of a document: its vectors are much larger than a small text. */
const minBytes = 16_000
/** What a document that is read in parts has in memory. */
const longBytes = 2_500_000

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

const maxAttempts = 5

function toOutcome(source: string, answered: IngestOutcome | IngestResult): IngestOutcome {
  if ('outcome' in answered) return answered
  const { document_id, chunk_count, replaced } = answered
  return { source, outcome: replaced ? 'replaced' : 'added', document_id, chunk_count }
}

async function whole({ pieces, size }: FileContent): Promise<Uint8Array> {
  const content = new Uint8Array(size)
  let at = 0
  for await (const piece of pieces()) {
    content.set(piece, at)
    at += piece.length
  }
  return content.subarray(0, at)
}

export function createIngestion(options: IngestionOptions): Pick<Knowledge, 'ingest' | 'ingestFile' | 'ingestMany'> {
  const find = createFind(options.documents)
  const drivers = { ...options, commits: createCommits(options) }

  const toSettings = (input: Omit<IngestInput, 'content'>, hash: string): DocumentSettings => {
    const settings = parseIngest(input, options.collection, options.chunkDefaults ?? {})
    return { ...settings, hash, source: settings.source ?? settings.name ?? `text:${hash.slice(0, 16)}` }
  }

  /** Does `work` unless `known` answers from what is stored already. */
  const inTurn = <T>(
    bytes: number,
    settings: DocumentSettings,
    { signal, caller }: Asked,
    known: (previous: StoredDocument | undefined, unchanged: boolean) => T | undefined | Promise<T | undefined>,
    work: (found: FoundDocument, asked: { signal: AbortSignal; caller: string }) => Promise<IngestResult>,
  ): Promise<T | IngestResult> => {
    const stop = options.stopping()
    const either = signal ? AbortSignal.any([signal, stop]) : stop
    const turn = { key: `${settings.collection}\0${settings.source}`, weight: bytes, caller }
    return options.lock.shared(turn, async () => {
      for (let attempts = 1; ; attempts++) {
        either.throwIfAborted()
        try {
          const found = await find(settings.collection, settings.source)
          const { previous } = found
          const answer = await known(previous, previous !== undefined && isUnchanged(previous, settings))
          return answer ?? (await work(found, { signal: either, caller }))
        } catch (error) {
          stop.throwIfAborted()
          // Another server has reindexed: its vectors are written anew.
          if (!(error instanceof StaleCollection) || attempts === maxAttempts) throw error
        }
      }
    })
  }
  const ingestContent = (content: IngestInput['content'] | undefined, settings: DocumentSettings) => {
    const bytes = content === undefined ? 0 : Math.max(minBytes, content.length)
    const work: Parameters<typeof inTurn>[4] = (found, asked) => {
      assertContent(content)
      return ingestDocument(drivers, content, settings, found, asked)
    }
    return { bytes, work }
  }

  const ingestItem = async (item: IngestItem, asked: Asked): Promise<IngestOutcome> => {
    const { content, content_hash, ...input } = item
    if (content === undefined && content_hash === undefined) throw invalid('content or content_hash is required')
    if (content !== undefined) assertContent(content)
    const settings = toSettings(input, content === undefined ? (content_hash ?? '') : hashOf(content))
    const { source } = settings
    const { bytes, work } = ingestContent(content, settings)
    const known = (previous: StoredDocument | undefined, unchanged: boolean): IngestOutcome | undefined => {
      const outcome = unchanged ? 'unchanged' : content === undefined ? 'needed' : undefined
      const { document_id = null, chunk_count = 0 } = previous ?? {}
      return outcome && { source, outcome, document_id, chunk_count }
    }
    return toOutcome(source, await inTurn(bytes, settings, asked, known, work))
  }

  return {
    async ingest(input, signal, caller = '') {
      assertContent(input.content)
      const settings = toSettings(input, hashOf(input.content))
      const { bytes, work } = ingestContent(input.content, settings)
      const known = async (previous: StoredDocument | undefined, unchanged: boolean) =>
        previous && unchanged
          ? result(previous, await options.documents.chunkIds(previous.generation), false, true)
          : undefined
      return inTurn(bytes, settings, { signal, caller }, known, work)
    },

    async ingestFile({ file, encoding, ...input }, signal, caller = '') {
      const settings = toSettings(input, file.hash)
      const { source } = settings
      const named = { name: settings.name ?? undefined, mediaType: settings.mediaType ?? undefined, source }
      const inParts = options.preparer.takesParts(named, file.head)
      const known = (previous: StoredDocument | undefined, unchanged: boolean): IngestOutcome | undefined =>
        previous && unchanged
          ? { source, outcome: 'unchanged', document_id: previous.document_id, chunk_count: previous.chunk_count }
          : undefined
      const answered = await inTurn(
        inParts ? longBytes : file.size,
        settings,
        { signal, caller },
        known,
        async (found, asked) => {
          if (inParts) return ingestLong(drivers, { file, encoding, settings, ...asked }, found)
          const content = await whole(file)
          return ingestDocument(drivers, content, { ...settings, hash: hashOf(content) }, found, asked)
        },
      )
      return toOutcome(source, answered)
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
