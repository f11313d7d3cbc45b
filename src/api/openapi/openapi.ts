import { json, text } from '../../http/reply.ts'
import { AnyObject, jsonAnswer, PlainText, type RouteDoc } from '../../wire/document/route-doc.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toOpenApi } from './document.ts'

const route = routesAbout('Server', 'any')

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
    route('GET', '/openapi.yaml', 'getOpenApiYaml', {
      summary,
      responses: { 200: { description: 'OpenAPI 3.1.', content: { 'application/yaml': PlainText } } },
      errors: [],
      handle: async () => {
        yaml ??= toYaml(getDocument())
        return text(await yaml, 'application/yaml; charset=utf-8')
      },
    }),
    route('GET', '/openapi.json', 'getOpenApiJson', {
      summary,
      responses: { 200: jsonAnswer('OpenAPI 3.1.', AnyObject) },
      errors: [],
      handle: () => json(getDocument()),
    }),
  ]
}

async function toYaml(document: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })
}
