import type { DocumentStore } from '../../core/knowledge/document-store.ts'
import type { Logger } from '../../core/logger.ts'
import type { VectorList } from './vectors/index-document.ts'

export interface LeftoverDrivers {
  documents: Pick<DocumentStore, 'collect'>
  logger: Logger
}

/**
 * Removes the chunks and vectors of generations that are current no more. Never throws: no search shows them, and they are
 * removed at the latest when the knowledge base opens.
 */
export async function removeLeftovers(
  { documents, logger }: LeftoverDrivers,
  listsOf: () => Promise<readonly Pick<VectorList, 'table' | 'missing'>[]>,
  generations: readonly number[],
): Promise<void> {
  try {
    await documents.collect(generations)
    for (const { table, missing } of await listsOf()) {
      await table.removeGenerations(generations)
      for (const generation of generations) missing.delete(generation)
    }
  } catch (error) {
    logger.warn({ err: error, generations }, 'old versions of documents could not be removed yet')
  }
}
