import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { json, sse } from '../../http/reply.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import {
  Document,
  DocumentDeleted,
  DocumentList,
  DocumentsQuery,
  KnowledgeStatus,
  ReindexEvent,
  ReindexRequest,
} from '../../wire/knowledge.ts'
import { toList } from '../../wire/list.ts'
import { parseBody, parseQuery } from '../../wire/parse.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { pathId } from '../route/path-id.ts'
import { workFrames } from '../route/work-frames.ts'
import { acceptsEvents } from '../runs/stream.ts'
import { reindexEvents } from './reindex-events.ts'

const route = routesAbout('Knowledge')

const params = { id: 'The document.' }

export function documentRoutes(knowledge: Knowledge, path: string): DocumentedRoute[] {
  const statusAnswer = jsonAnswer('The counts, and the progress of a reindex.', KnowledgeStatus)
  return [
    route('GET', `${path}/documents`, 'listDocuments', {
      scope: 'knowledge:read',
      summary: 'List documents',
      query: DocumentsQuery,
      responses: { 200: jsonAnswer('A page of documents.', DocumentList) },
      errors: [],
      handle: async (request) => {
        const { limit, cursor, ...filter } = parseQuery(DocumentsQuery, request.query)
        return json(toList('documents', await knowledge.listDocuments(filter, { limit, cursor })))
      },
    }),
    route('GET', `${path}/documents/:id`, 'getDocument', {
      scope: 'knowledge:read',
      summary: 'Describe a document',
      params,
      responses: { 200: jsonAnswer('The document.', Document) },
      errors: ['document_not_found'],
      handle: async (request) => json(await knowledge.getDocument(pathId(request))),
    }),
    route('DELETE', `${path}/documents/:id`, 'deleteDocument', {
      scope: 'knowledge:write',
      summary: 'Delete a document with its chunks',
      params,
      responses: {
        200: jsonAnswer('The document was deleted.', DocumentDeleted),
      },
      errors: ['document_not_found'],
      handle: async (request, services) => {
        const id = pathId(request)
        await (services.knowledge ?? knowledge).deleteDocument(id)
        return json({ document_id: id, deleted: true })
      },
    }),
    route('POST', `${path}/reindex`, 'reindexKnowledge', {
      scope: 'knowledge:write',
      summary: 'Reindex: embed every chunk again',
      description:
        'With `Accept: text/event-stream` the response is a stream that reports the progress, has no time limit, and stops the work when ' +
        'the client disconnects.',
      body: { required: false, content: { 'application/json': ReindexRequest } },
      responses: {
        200: { ...statusAnswer, content: { ...statusAnswer.content, 'text/event-stream': ReindexEvent } },
      },
      errors: ['conflict', 'storage_full', 'timeout'],
      handle: async (request, services) => {
        const own = services.knowledge ?? knowledge
        const { embedder } = parseBody(ReindexRequest, await request.body.json())
        const { signal } = request
        if (acceptsEvents(request)) {
          return sse(workFrames(reindexEvents((progress) => own.reindex({ embedder, progress, signal }))))
        }
        return json(await own.reindex({ embedder, signal: AbortSignal.any([signal, request.deadline]) }))
      },
    }),
    route('GET', `${path}/status`, 'getKnowledgeStatus', {
      scope: 'knowledge:read',
      summary: 'Count documents, chunks and vectors',
      responses: { 200: statusAnswer },
      errors: [],
      handle: async () => json(await knowledge.status()),
    }),
  ]
}
