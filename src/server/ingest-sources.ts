import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileTooLarge, maxFileBytes } from '../config/file-limit.ts'
import { isBelow, unreachable } from '../config/source-places.ts'
import { findSources } from '../config/sources.ts'
import type { IngestInput, IngestOutcome, Knowledge } from '../core/knowledge/knowledge.ts'
import type { Logger } from '../core/logger.ts'

export interface IngestSourcesOptions {
  knowledge: Knowledge
  /** Where `sources` start. */
  root: string
  sources: readonly string[]
  collection: string | undefined
  chunkSize: number | undefined
  chunkOverlap: number | undefined
  logger: Logger
  signal: AbortSignal
}

/** In the turns of ingestion. */
const caller = 'sources'
const filesAtOnce = 100
const textBytes = 1_000_000

/**
 * Ingests the files that the config names, only what changed. Documents that its sources have brought and whose files are
 * gone are deleted, unless the folder that the source names is gone too, or empty: its disk may not be there. A file that
 * can't be read is logged; the others go on.
 */
export async function ingestSources(options: IngestSourcesOptions): Promise<void> {
  const { root, logger, signal, knowledge, collection } = options
  const counts = { added: 0, replaced: 0, unchanged: 0, failed: 0, needed: 0, deleted: 0, kept: 0 }
  try {
    const before = await knowledge.brought.list(collection)
    if (options.sources.length === 0 && before.size === 0) return
    const sources = await findSources(root, options.sources, {
      skipped: (source, reason) => logger.warn({ source, reason }, 'source was not ingested'),
      missing: (source) => logger.error({ source, root }, 'a configured knowledge source does not exist'),
    })
    const found = new Set(sources)
    await knowledge.brought.remember(new Set([...before, ...found]), collection)
    for (let at = 0; at < sources.length && !signal.aborted; at += filesAtOnce) {
      for (const { source, outcome, error } of await ingestGroup(options, sources.slice(at, at + filesAtOnce))) {
        counts[outcome]++
        if (error) logger.warn({ source, reason: error.message }, 'source was not ingested')
      }
    }
    const lost = await unreachable(root, options.sources)
    const gone = [...before].filter((source) => !found.has(source))
    const kept = gone.filter((source) => lost.some((folder) => isBelow(folder, source)))
    const folders = lost.filter((folder) => kept.some((source) => isBelow(folder, source)))
    counts.kept = kept.length
    if (kept.length > 0)
      logger.warn({ folders, documents: kept.length }, 'these folders are empty or missing: their documents are kept')
    counts.deleted = await knowledge.brought.delete(
      gone.filter((source) => !kept.includes(source)),
      collection,
    )
    await knowledge.brought.remember(new Set([...found, ...kept]), collection)
    logger.debug(counts, 'knowledge sources were ingested')
  } catch (error) {
    if (!signal.aborted) logger.error({ error }, 'the knowledge sources could not be read')
  }
}

async function ingestGroup(options: IngestSourcesOptions, sources: readonly string[]): Promise<IngestOutcome[]> {
  const { knowledge, root, signal } = options
  const settings = {
    collection: options.collection,
    chunk_size: options.chunkSize,
    chunk_overlap: options.chunkOverlap,
  }
  const outcomes: IngestOutcome[] = []
  const texts: (IngestInput & { content: string })[] = []
  for (const source of sources) {
    try {
      const path = resolve(root, source)
      const { size } = await stat(path)
      if (size > maxFileBytes) throw fileTooLarge(size, maxFileBytes)
      const content = await readFile(path)
      const input = { ...settings, source, name: source }
      if (content.length < textBytes && isUtf8(content)) texts.push({ ...input, content: content.toString('utf8') })
      else outcomes.push(await ingestAlone(knowledge, { ...input, content }, source, signal))
    } catch (error) {
      signal.throwIfAborted()
      const { code = 'internal', message } = error as NodeJS.ErrnoException
      outcomes.push({ source, outcome: 'failed', document_id: null, chunk_count: 0, error: { code, message } })
    }
  }
  return [...outcomes, ...(await knowledge.ingestMany(texts, signal))]
}

async function ingestAlone(
  knowledge: Knowledge,
  input: IngestInput,
  source: string,
  signal: AbortSignal,
): Promise<IngestOutcome> {
  const { document_id, chunk_count, replaced, unchanged } = await knowledge.ingest(input, signal, caller)
  return { source, outcome: unchanged ? 'unchanged' : replaced ? 'replaced' : 'added', document_id, chunk_count }
}
