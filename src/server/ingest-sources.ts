import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findSources } from '../config/sources.ts'
import { isAppError } from '../core/error.ts'
import type { Knowledge } from '../core/knowledge.ts'
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

/** Ingests the files that the config names, only what changed. A file that can't be read is logged; the others go on. */
export async function ingestSources(options: IngestSourcesOptions): Promise<void> {
  const { knowledge, root, logger, signal } = options
  const counts = { added: 0, replaced: 0, unchanged: 0, skipped: 0 }
  try {
    for (const source of await findSources(root, options.sources)) {
      if (signal.aborted) return
      try {
        const result = await knowledge.ingest(
          {
            content: await readFile(join(root, source)),
            name: source,
            source,
            collection: options.collection,
            chunk_size: options.chunkSize,
            chunk_overlap: options.chunkOverlap,
          },
          signal,
        )
        counts[result.unchanged ? 'unchanged' : result.replaced ? 'replaced' : 'added']++
      } catch (error) {
        if (signal.aborted) return
        counts.skipped++
        logger.warn({ source, reason: isAppError(error) ? error.message : String(error) }, 'source was not ingested')
      }
    }
  } catch (error) {
    logger.error({ error }, 'the knowledge sources could not be read')
    return
  }
  logger.debug(counts, 'knowledge sources are ingested')
}
