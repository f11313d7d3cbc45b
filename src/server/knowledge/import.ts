import { access } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ResolvedConfig } from '../../config/types.ts'
import { AppError, invalid } from '../../core/error.ts'
import { silentLogger } from '../../core/logger.ts'
import { createEmbedders } from '../../knowledge/embedders/all.ts'
import { memoryVectors } from '../../knowledge/vectors/memory.ts'
import { createStoredChunks } from '../../knowledge/words/stored-chunks.ts'
import { closeAll } from '../../runtime/close-all.ts'
import { type Moved, moveKnowledge } from '../../service/knowledge/moving.ts'
import { createDocumentStore } from '../../store/documents/store.ts'
import { explainRefusal } from '../../store/postgres/refusal.ts'
import { sharedStores } from './knowledge.ts'

export type { Moved } from '../../service/knowledge/moving.ts'

export interface KnowledgeImport {
  /** The folder of a local knowledge base; default: that of the data folder. */
  folder?: string | undefined
  signal: AbortSignal
  progress: (done: number, total: number) => void
}

/** This process neither searches nor builds indexes. */
const never = 2 ** 31 - 1
const withoutUpkeep = { everyMs: never, quietMs: never, patienceMs: never }

/**
 * Copies a knowledge base in files into that of the configuration, which is in Postgres; see service/knowledge/moving.ts. Throws
 * `invalid_request` when it is not there, and `unavailable` with what to do.
 */
export async function importKnowledge(
  { server, dataFolder, root }: ResolvedConfig,
  { folder, signal, progress }: KnowledgeImport,
): Promise<{ from: string; to: string; collections: Moved[] }> {
  const { vectorDb, embedding } = server
  if (vectorDb?.type !== 'postgres')
    throw new AppError(
      'invalid_request',
      "The knowledge base is not in Postgres: set server.storage, for example to { type: 'postgres' }.",
    )
  const { place } = vectorDb.storage
  const path = join(folder === undefined ? join(dataFolder, 'knowledge') : resolve(root, folder), 'knowledge.db')
  await access(path).catch(() => {
    throw invalid(`There is no knowledge base at '${path}'. Name its folder with --from.`)
  })
  const documents = createDocumentStore({ path })
  const target = sharedStores(vectorDb, memoryVectors(), silentLogger, withoutUpkeep)
  const { openStoredVectors } = await import('../../knowledge/vectors/lance-reading.ts')
  await target.documents.open().catch((cause: unknown) => {
    throw new AppError('unavailable', explainRefusal(cause, place).message, { cause })
  })
  try {
    await documents.open()
    const vectors = await openStoredVectors(join(dirname(path), 'vectors'))
    const drivers = {
      from: { documents, vectors },
      to: target,
      embedders: createEmbedders(embedding),
      toRows: createStoredChunks(),
    }
    try {
      return { from: path, to: place, collections: await moveKnowledge(drivers, { signal, progress }) }
    } finally {
      await vectors.close()
    }
  } finally {
    // Vectors before the documents of the same database.
    await closeAll(documents.close, target.vectors.close, target.documents.close)
  }
}
