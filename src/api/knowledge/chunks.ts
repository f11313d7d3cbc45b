import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { json } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { ChunkInDocument, ChunkList, ChunkQuery, ChunksQuery } from '../../wire/knowledge.ts'
import { toList } from '../../wire/list.ts'
import { parseQuery } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { pathId } from '../route/path-id.ts'

const route = routesAbout('Knowledge', 'knowledge:read')

/** The chunks of documents as they are now. A chunk of replaced content is gone. */
export function chunkRoutes(knowledge: Knowledge, path: string): DocumentedRoute[] {
  return [
    route('GET', `${path}/chunks/:id`, 'getChunk', {
      summary: 'Read a chunk, with its neighbours',
      params: { id: 'The chunk.' },
      query: ChunkQuery,
      responses: { 200: jsonAnswer('The chunk.', ChunkInDocument) },
      errors: ['chunk_not_found'],
      handle: async (request) => {
        const { context } = parseQuery(ChunkQuery, request.query)
        return json(await knowledge.getChunk(pathId(request), context))
      },
    }),
    route('GET', `${path}/documents/:id/chunks`, 'listChunks', {
      summary: 'List the chunks of a document, in order',
      description: 'A page may have fewer chunks than `limit`: it ends at 1 MB.',
      params: { id: 'The document.' },
      query: ChunksQuery,
      responses: { 200: jsonAnswer('A page of chunks.', ChunkList) },
      errors: ['document_not_found', 'conflict'],
      handle: async (request) => {
        const page = parseQuery(ChunksQuery, request.query)
        return json(toList('chunks', await knowledge.listChunks(pathId(request), page)))
      },
    }),
  ]
}
