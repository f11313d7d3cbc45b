import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Works } from '../../../src/core/knowledge/document-store.ts'
import type { VectorStore } from '../../../src/core/knowledge/drivers.ts'
import type { KnowledgeDriverOptions } from '../../../src/knowledge/drivers.ts'
import { memoryVectors } from '../../../src/knowledge/vectors/memory.ts'
import type { KnowledgeOptions, OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeDatabaseOptions, knowledgeDatabase } from '../../../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../../../src/store/documents/postgres/store.ts'
import { postgresVectors } from '../../../src/store/vectors/vectors.ts'
import { type Place, testPostgres } from '../postgres/test-postgres.ts'
import { composeKnowledge } from './folder.ts'

export interface Server {
  knowledge: OpenableKnowledge & { works: Works }
  /** What it writes into, and what it is told. */
  documents: ReturnType<typeof postgresDocuments>
}

export interface SharedKnowledge {
  place: Place
  /** Another server on the same database, opened. */
  open(
    options?: Partial<KnowledgeOptions> &
      Partial<KnowledgeDatabaseOptions> &
      Partial<Pick<KnowledgeDriverOptions, 'embedding'>> & {
        /** Puts something between the server and its vectors. */
        around?: (vectors: VectorStore) => VectorStore
        /** Where the server keeps copies of vectors. */
        copies?: VectorStore
      },
  ): Promise<Server>
  close(): Promise<void>
}

/** A knowledge base in Postgres for several servers. */
export async function sharedKnowledge(): Promise<SharedKnowledge> {
  const place = (await testPostgres()).newSchema()
  const folder = await mkdtemp(join(tmpdir(), 'shared-knowledge-'))
  const opened: OpenableKnowledge[] = []
  return {
    place,
    async open(options = {}) {
      const { url = place.url, deadAfterMs, searchMs, timers, space, connections, ...more } = options
      const { around = (vectors) => vectors, copies = memoryVectors(), ...others } = more
      const database = knowledgeDatabase({ url, schema: place.name, deadAfterMs, searchMs, timers, space, connections })
      const documents = postgresDocuments(database)
      const knowledge = composeKnowledge(folder, {
        documents,
        vectors: around(postgresVectors({ database, copies })),
        ...others,
      })
      await knowledge.open()
      opened.push(knowledge)
      return { knowledge: knowledge as Server['knowledge'], documents }
    },
    async close() {
      for (const knowledge of opened) await knowledge.close()
      await place.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
