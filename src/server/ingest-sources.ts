import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { findSources } from '../config/sources.ts'
import { isAppError } from '../core/error.ts'
import type { IngestInput, IngestOutcome, Knowledge } from '../core/knowledge.ts'
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
 * Ingests the files that the config names, only what changed, and gives them. Documents of files that were there
 * `before` and are gone are deleted. A file that can't be read is logged; the others go on.
 */
export async function ingestSources(
  options: IngestSourcesOptions,
  before: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const { root, logger, signal } = options
  const counts = { added: 0, replaced: 0, unchanged: 0, failed: 0, needed: 0, deleted: 0 }
  try {
    const sources = await findSources(root, options.sources)
    for (let at = 0; at < sources.length && !signal.aborted; at += filesAtOnce) {
      for (const { source, outcome, error } of await ingestGroup(options, sources.slice(at, at + filesAtOnce))) {
        counts[outcome]++
        if (error) logger.warn({ source, reason: error.message }, 'source was not ingested')
      }
    }
    const found = new Set(sources)
    for (const source of before) if (!found.has(source)) counts.deleted += await forget(options, source)
    logger.debug(counts, 'knowledge sources are ingested')
    return found
  } catch (error) {
    if (!signal.aborted) logger.error({ error }, 'the knowledge sources could not be read')
    return before
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
      const content = await readFile(resolve(root, source))
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

async function forget({ knowledge, collection }: IngestSourcesOptions, source: string): Promise<number> {
  const { items } = await knowledge.listDocuments({ source, collection }, { limit: 100, cursor: undefined })
  for (const { document_id } of items)
    await knowledge.deleteDocument(document_id).catch((error: unknown) => {
      if (!isAppError(error) || error.code !== 'document_not_found') throw error
    })
  return items.length
}
