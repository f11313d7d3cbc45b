import { AppError, invalidCursor } from '../../core/error.ts'
import type { DocumentStore } from '../../core/knowledge/document-store.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import { chunkSettings } from '../../schema/knowledge.ts'
import { checkRequest } from '../../schema/request.ts'
import { toChunk } from './hits.ts'

const { chunkBytes } = knowledgeLimits

/** Looks at the chunks of current documents. */
export function createChunks(documents: DocumentStore): Pick<Knowledge, 'getChunk' | 'listChunks'> {
  return {
    async getChunk(chunkId, around) {
      const { context } = checkRequest(chunkSettings, { context: around })
      const found = await documents.chunksAround(chunkId, context, chunkBytes)
      const chunks = found.map((chunk) => toChunk(chunk))
      const at = chunks.findIndex(({ chunk_id }) => chunk_id === chunkId)
      const [chunk] = chunks.slice(at)
      if (chunk === undefined) throw new Error(`the chunk ${chunkId} is not among those around it`)
      return { ...chunk, before: chunks.slice(0, at), after: chunks.slice(at + 1) }
    },

    async listChunks(documentId, { cursor, limit }) {
      const { generation, chunk_count } = await documents.getDocument(documentId)
      const start = cursor === undefined ? { generation, from: 0 } : readCursor(cursor)
      if (start.generation !== generation) throw replaced(documentId)
      const found = await documents.chunksFrom(generation, start.from, limit, chunkBytes)
      const last = found.at(-1)
      if (last === undefined && start.from < chunk_count) throw replaced(documentId)
      const next = last === undefined ? chunk_count : last.index + 1
      return { items: found.map((chunk) => toChunk(chunk)), next: next < chunk_count ? `${generation}.${next}` : null }
    },
  }
}

function readCursor(cursor: string): { generation: number; from: number } {
  const [, generation, from] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (generation === undefined || from === undefined) throw invalidCursor()
  return { generation: Number(generation), from: Number(from) }
}

function replaced(documentId: string): AppError {
  return new AppError(
    'conflict',
    `The document '${documentId}' was replaced since this list began. Read it from its start.`,
  )
}
