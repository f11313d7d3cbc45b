import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { json } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { jsonAnswer, PlainText } from '../../wire/document/route-doc.ts'
import {
  ContentForm,
  ContentRequest,
  ContentSettings,
  IngestAnswer,
  KnowledgeConfig,
  ManyAnswer,
  ManyRequest,
} from '../../wire/knowledge.ts'
import { parseBody, parseQuery } from '../../wire/parse.ts'
import { SearchAnswer, SearchQuery, SearchRequest } from '../../wire/search.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { readIdempotency } from '../route/idempotency.ts'
import type { ApiSettings } from '../route/settings.ts'
import { chunkRoutes } from './chunks.ts'
import { readContent } from './content.ts'
import { documentRoutes } from './documents.ts'

const route = routesAbout('Knowledge')

/** The enabled routes of the knowledge base; none without one. All callers share it. */
export function knowledgeRoutes(knowledge: Knowledge | undefined, settings: ApiSettings): DocumentedRoute[] {
  if (knowledge === undefined) return []
  const { search, config, content, documents } = settings.knowledgeApi
  const path = `${settings.prefix}/knowledge`
  const searchRoute = route('POST', `${path}/search`, 'searchKnowledge', {
    scope: 'knowledge:read',
    summary: 'Search for passages',
    query: SearchQuery,
    body: { required: true, content: { 'application/json': SearchRequest } },
    responses: {
      200: jsonAnswer('The passages, best match first.', SearchAnswer),
    },
    errors: ['collection_not_found', 'timeout'],
    handle: async (request) => {
      const query = parseBody(SearchRequest, await request.body.json())
      const { explain = query.explain } = parseQuery(SearchQuery, request.query)
      const told = explain === true ? { explain, trace: true } : {}
      const { results, mode, skipped, trace } = await knowledge.search({ ...query, ...told }, eitherSignal(request))
      return json({ results, count: results.length, mode, ...(skipped && { skipped }), ...(trace && { trace }) })
    },
  })
  const configRoute = route('GET', `${path}/config`, 'getKnowledgeConfig', {
    scope: 'knowledge:read',
    summary: 'Show the available chunkers, readers, vector databases and the embedding model',
    responses: { 200: jsonAnswer('The configuration.', KnowledgeConfig) },
    errors: [],
    handle: async () => json({ ...(await knowledge.config()), features: { search, content, documents } }),
  })
  const contentRoute = route('POST', `${path}/content`, 'ingestContent', {
    scope: 'knowledge:write',
    summary: 'Add or replace a document',
    description: 'The query parameters apply to text/plain only; JSON bodies and forms have fields of the same names.',
    query: ContentSettings,
    headers: { 'Idempotency-Key': 'A retry with the same key and content returns the first answer.' },
    body: {
      required: true,
      content: {
        'application/json': ContentRequest,
        'multipart/form-data': ContentForm,
        'text/plain': PlainText,
      },
    },
    responses: {
      201: jsonAnswer('A new document was added.', IngestAnswer),
      200: jsonAnswer('An existing document was replaced, or nothing changed.', IngestAnswer),
    },
    errors: ['conflict', 'idempotency_mismatch', 'unreadable_document', 'storage_full', 'timeout'],
    handle: async (request, { once, knowledge: own = knowledge }) => {
      const input = await readContent(request)
      const idempotency = await readIdempotency(request, 'POST /knowledge/content')
      const answer = await once(idempotency, async () => ({
        ...(await own.ingest(input, eitherSignal(request), callerOf(request))),
      }))
      return json(answer, answer.replaced || answer.unchanged ? 200 : 201)
    },
  })
  const manyRoute = route('POST', `${path}/documents`, 'ingestMany', {
    scope: 'knowledge:write',
    summary: 'Add or replace many documents',
    description:
      'A document that cannot be read is reported in its own outcome; the others are stored. Repeating the request changes nothing.',
    body: { required: true, content: { 'application/json': ManyRequest } },
    responses: {
      200: jsonAnswer('One outcome per document, in the order of the request.', ManyAnswer),
    },
    errors: ['conflict', 'storage_full', 'timeout'],
    handle: async (request, { knowledge: own = knowledge }) => {
      const { documents: items, collection } = parseBody(ManyRequest, await request.body.json())
      const given = items.map((item) => ({ ...item, collection }))
      const results = await own.ingestMany(given, eitherSignal(request), callerOf(request))
      return json({ results, count: results.length })
    },
  })
  return [
    ...(search ? [searchRoute] : []),
    ...(config ? [configRoute] : []),
    ...(content ? [contentRoute, manyRoute] : []),
    ...(documents ? [...documentRoutes(knowledge, path), ...chunkRoutes(knowledge, path)] : []),
  ]
}

/** Distinct from the caller that ingests the config's sources. */
function callerOf({ caller }: HttpRequest): string {
  return `key:${caller}`
}

/** Aborts when the client disconnects or the request times out. */
function eitherSignal(request: HttpRequest): AbortSignal {
  return AbortSignal.any([request.signal, request.deadline])
}
