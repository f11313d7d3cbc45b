import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../../src/core/logger.ts'
import { createKnowledgeDrivers, type KnowledgeDriverOptions } from '../../../src/knowledge/drivers.ts'
import {
  createKnowledge,
  type KnowledgeOptions,
  type OpenableKnowledge,
} from '../../../src/service/knowledge/knowledge.ts'
import { createDocumentStore } from '../../../src/store/documents/store.ts'
import { emptyDatabase } from '../empty-database.ts'

export interface KnowledgeFolder {
  folder: string
  /** A new knowledge base over the folder, opened; closed with the folder. */
  open(options?: Partial<KnowledgeOptions> & Partial<KnowledgeDriverOptions>): Promise<OpenableKnowledge>
  remove(): Promise<void>
}

/** A folder for knowledge bases on real SQLite and real LanceDB. */
export async function knowledgeFolder(): Promise<KnowledgeFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'knowledge-'))
  await emptyDatabase('documents', join(folder, 'knowledge/knowledge.db'))
  const opened: OpenableKnowledge[] = []
  return {
    folder,
    async open(options = {}) {
      const knowledge = composeKnowledge(folder, options)
      await knowledge.open()
      opened.push(knowledge)
      return knowledge
    },
    async remove() {
      for (const knowledge of opened) await knowledge.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function composeKnowledge(
  dataFolder: string,
  options: Partial<KnowledgeOptions> & Partial<KnowledgeDriverOptions> = {},
): OpenableKnowledge {
  const { documentsPath, ...drivers } = createKnowledgeDrivers({
    vectorDb: { type: 'lancedb' },
    embedding: { provider: 'auto', cacheFolder: join(dataFolder, 'no-models') },
    dataFolder,
    ...options,
  })
  return createKnowledge({
    ...drivers,
    documents: createDocumentStore({ path: documentsPath, onWordsForgotten: () => drivers.preparer.forgetWords() }),
    clock: Date.now,
    logger: silentLogger,
    features: { search: true, content: true, documents: true },
    maxRequestBytes: 10_485_760,
    ...options,
  })
}
