import { json, text } from '../../http/reply.ts'
import { AnyObject, PlainText, type RouteDoc } from '../../wire/document/route-doc.ts'
import { type DocumentedRoute, documented } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toOpenApi } from './document.ts'

/** The document of `docs()`, built at the first request and cached. Mount new routes to rebuild it. */
export function openApiRoutes(docs: () => readonly RouteDoc[], settings: ApiSettings): DocumentedRoute[] {
  let document: ReturnType<typeof toOpenApi> | undefined
  let yaml: Promise<string> | undefined
  const getDocument = () => {
    document ??= toOpenApi(docs(), settings)
    return document
  }
  const summary = 'This document'
  return [
    documented(
      {
        method: 'GET',
        path: '/openapi.yaml',
        operationId: 'getOpenApiYaml',
        scope: 'any',
        tag: 'Server',
        summary,
        responses: { 200: { description: 'OpenAPI 3.1.', content: { 'application/yaml': PlainText } } },
        errors: [],
      },
      async () => {
        yaml ??= toYaml(getDocument())
        return text(await yaml, 'application/yaml; charset=utf-8')
      },
    ),
    documented(
      {
        method: 'GET',
        path: '/openapi.json',
        operationId: 'getOpenApiJson',
        scope: 'any',
        tag: 'Server',
        summary,
        responses: { 200: { description: 'OpenAPI 3.1.', content: { 'application/json': AnyObject } } },
        errors: [],
      },
      () => json(getDocument()),
    ),
  ]
}

async function toYaml(document: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })
}
