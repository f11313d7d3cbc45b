import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { defaultMaxFileSize } from '../../core/knowledge/limits.ts'
import { isRemote } from '../../core/knowledge/remote-source.ts'
import type { Logger } from '../../core/logger.ts'
import { fileTooLarge } from '../../sources/file-limit.ts'
import { findSources } from '../../sources/find.ts'
import { type IngestTarget, ingestFiles, toOutcome } from '../../sources/ingest.ts'
import { isBelow, unreachable } from '../../sources/places.ts'

export interface IngestSourcesOptions {
  knowledge: Knowledge
  /** The base of relative `sources`. */
  root: string
  sources: readonly string[]
  /** False: documents that were ingested by hand stay so, and are never deleted with these sources. */
  areNamed?: boolean | undefined
  collection?: string | undefined
  chunkSize?: number | undefined
  chunkOverlap?: number | undefined
  /** In bytes; larger files are refused before they are read. */
  maxFileSize?: number | undefined
  logger: Logger
  signal: AbortSignal
  /** Called with the number of files that are still to come. */
  onLeft?: ((files: number) => void) | undefined
}

/** Ingestions of one caller run one after the other. */
const caller = 'sources'

/**
 * Ingests the changed files of the config's sources. Deletes documents of removed files, unless the source's folder is
 * missing or empty: its disk may not be mounted. A file that can't be read is logged and skipped.
 */
export async function ingestSources(options: IngestSourcesOptions): Promise<void> {
  const { root, logger, signal, knowledge, collection } = options
  const counts = { added: 0, replaced: 0, unchanged: 0, failed: 0, needed: 0, deleted: 0, kept: 0 }
  try {
    const before = new Set([...(await knowledge.brought.list(collection))].filter((source) => !isRemote(source)))
    if (options.sources.length === 0 && before.size === 0) return
    const sources = await findSources(root, options.sources, {
      skipped: (source, reason) => logger.warn({ source, reason }, 'source was not ingested'),
      missing: (source) => logger.error({ source, root }, 'a configured knowledge source does not exist'),
      generated: (source) => logger.debug({ source }, 'a file that a program wrote was left out; name it to take it'),
    })
    const found = new Set(sources)
    let left = found.size
    options.onLeft?.(left)
    const add = sources.filter((source) => !before.has(source))
    const byHand = options.areNamed === false && add.length > 0 ? await storedSources(options) : new Set<string>()
    await knowledge.brought.change({ add: add.filter((source) => !byHand.has(source)) }, collection)
    for await (const { source, outcome, error } of ingestFiles(targetOf(options), { root, sources, signal })) {
      counts[outcome]++
      options.onLeft?.(--left)
      if (error) logger.warn({ source, reason: error.message }, 'source was not ingested')
    }
    const lost = await unreachable(root, options.sources)
    const gone = [...before].filter((source) => !found.has(source))
    const kept = gone.filter((source) => lost.some((folder) => isBelow(folder, source)))
    const folders = lost.filter((folder) => kept.some((source) => isBelow(folder, source)))
    counts.kept = kept.length
    if (kept.length > 0)
      logger.warn({ folders, documents: kept.length }, 'these folders are empty or missing: their documents are kept')
    const deleted = gone.filter((source) => !kept.includes(source))
    counts.deleted = await knowledge.brought.delete(deleted, collection)
    await knowledge.brought.change({ forget: deleted }, collection)
    logger.debug(counts, 'knowledge sources were ingested')
  } catch (error) {
    if (!signal.aborted) logger.error({ error }, 'the knowledge sources could not be read')
  }
}

async function storedSources({ knowledge, collection, signal }: IngestSourcesOptions): Promise<Set<string>> {
  const stored = new Set<string>()
  let cursor: string | undefined
  do {
    signal.throwIfAborted()
    const page = await knowledge.listDocuments({ collection }, { limit: 100, cursor })
    for (const { source } of page.items) stored.add(source)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return stored
}

/** The knowledge base of this process, with the config's settings. */
function targetOf(options: IngestSourcesOptions): IngestTarget {
  const { knowledge, signal, collection, chunkSize, chunkOverlap, maxFileSize = defaultMaxFileSize } = options
  const settings = { collection, chunk_size: chunkSize, chunk_overlap: chunkOverlap }
  return {
    many: (items) =>
      knowledge.ingestMany(
        items.map((item) => ({ ...settings, ...item })),
        signal,
        caller,
      ),
    async one(source, content) {
      return toOutcome(source, await knowledge.ingest({ ...settings, source, name: source, content }, signal, caller))
    },
    file: (source, file) => knowledge.ingestFile({ ...settings, source, name: source, file }, signal, caller),
    stored: (documentId) => knowledge.getDocument(documentId),
    forget: (documentId) => knowledge.deleteDocument(documentId),
    assertSize(bytes) {
      if (bytes > maxFileSize) throw fileTooLarge(bytes, maxFileSize, 'knowledge.maxFileSize')
    },
    isAboutFile: () => !signal.aborted,
  }
}
