import { json } from '../http/reply.ts'
import type { Route } from '../http/router.ts'
import { metadataPath, type ProtectedResource } from '../http/tokens/resource.ts'
import type { RouteDoc } from '../wire/document/route-doc.ts'
import { ProtectedResourceMetadata } from '../wire/protocols/protected-resource.ts'

/** Where OAuth clients learn which provider's tokens the server takes (RFC 9728): one route for each resource. */
export function protectedResourceRoutes(resource: ProtectedResource): Route[] {
  return resource.paths.map((path) => ({
    method: 'GET',
    path: metadataPath + path,
    scope: 'open',
    handler: async (request) => json(resource.metadata(request, path)),
  }))
}

export function protectedResourceDocs({ paths }: Pick<ProtectedResource, 'paths'>): RouteDoc[] {
  return paths.map((path) => ({
    method: 'GET',
    path: metadataPath + path,
    operationId: path === '' ? 'getProtectedResource' : 'getProtectedResourceOfMcp',
    summary: path === '' ? 'Find out where tokens for this server come from' : 'The same for the MCP server',
    description: 'OAuth 2.0 Protected Resource Metadata (RFC 9728). Present with `server.auth.jwt`.',
    scope: 'open',
    tag: 'Server',
    responses: { 200: { description: 'The metadata.', content: { 'application/json': ProtectedResourceMetadata } } },
    errors: [],
  }))
}
