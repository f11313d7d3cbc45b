import { type Access, scopesOf } from '../../core/access/scope.ts'
import { type SecurityScheme, schemesOf, type TokenIssuer } from '../../core/access/security-scheme.ts'
import type { ErrorCode } from '../../core/error.ts'
import { statusOf } from '../../http/error.ts'
import { type JsonSchema, type JsonSchemas, toJsonSchemas } from '../../wire/document/json-schema.ts'
import type { DocContent, DocResponse, RouteDoc } from '../../wire/document/route-doc.ts'
import { ErrorBody } from '../../wire/error.ts'

type Json = Record<string, unknown>

/** Errors that every route with the standard error body can answer. */
const common: readonly ErrorCode[] = [
  'invalid_request',
  'misdirected_request',
  'headers_too_large',
  'rate_limited',
  'internal',
  'unavailable',
]
const withBody: readonly ErrorCode[] = ['request_timeout', 'payload_too_large', 'unsupported_media_type']
const withEffect: readonly ErrorCode[] = ['forbidden', 'storage_full']

export interface DocumentedServer {
  version: string
  authRequired: boolean
  tokenIssuer?: TokenIssuer | undefined
}

/** The OpenAPI 3.1 document of these routes. */
export function toOpenApi(docs: readonly RouteDoc[], server: DocumentedServer): Json {
  const schemas = toJsonSchemas([ErrorBody, ...docs.flatMap(schemasOf)])
  const paths: Record<string, Json> = {}
  for (const doc of docs) {
    const path = toTemplate(doc.path)
    paths[path] = { ...paths[path], [doc.method.toLowerCase()]: toOperation(doc, schemas, server) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'agentserve',
      version: server.version,
      description: 'Agents, teams and workflows over HTTP, with durable sessions and a local knowledge base.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: server.authRequired ? schemesOf(server.tokenIssuer).map((scheme) => ({ [scheme]: [] })) : [],
    tags: [...new Set(docs.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components,
      securitySchemes: Object.fromEntries(
        schemesOf(server.tokenIssuer).map((scheme) => [scheme, schemeOf(scheme, server.tokenIssuer)]),
      ),
    },
  }
}

const parameter = /(?<=\/):(\w+)/g

/** `/a/{id}/b:c` of the router's `/a/:id/b\:c`. */
function toTemplate(path: string): string {
  return path.replace(parameter, '{$1}').replaceAll('\\:', ':')
}

function schemasOf(doc: RouteDoc) {
  const bodies = [doc.body?.content, ...Object.values(doc.responses).map(({ content }) => content)]
  const fields = doc.query === undefined ? [] : [doc.query]
  return [...fields, ...bodies.flatMap((content) => Object.values(content ?? {}))]
}

function schemeOf(scheme: SecurityScheme, issuer: TokenIssuer | undefined): Json {
  if (scheme === 'openId') return { type: 'openIdConnect', openIdConnectUrl: issuer?.openIdUrl }
  if (scheme === 'apiKey') return { type: 'apiKey', in: 'header', name: 'X-API-Key' }
  return { type: 'http', scheme: 'bearer', ...(issuer?.alone === true && { bearerFormat: 'JWT' }) }
}

function toOperation(doc: RouteDoc, schemas: JsonSchemas, server: DocumentedServer): Json {
  return {
    operationId: doc.operationId,
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description === undefined ? {} : { description: doc.description }),
    ...toSecurity(doc.scope, server),
    parameters: toParameters(doc, schemas),
    ...(doc.body === undefined
      ? {}
      : { requestBody: { required: doc.body.required, content: toContent(doc.body.content, schemas) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(doc.responses).map(([status, response]) => [status, toResponse(response, schemas)]),
      ),
      ...toErrors(doc, schemas, server.authRequired),
    },
  }
}

/** The scopes of a key take the place of OpenAPI's roles. */
function toSecurity(access: Access, { authRequired, tokenIssuer }: DocumentedServer): Json {
  if (access === 'open') return { security: [] }
  if (access === 'any' || access === 'operator' || !authRequired) return {}
  const ways = scopesOf(access)
  return { security: schemesOf(tokenIssuer).flatMap((scheme) => ways.map((needed) => ({ [scheme]: needed }))) }
}

function toParameters(doc: RouteDoc, schemas: JsonSchemas): Json[] {
  const inPath = [...doc.path.matchAll(parameter)].map(([, name = '']) => {
    const examples = doc.examples?.[name] ?? []
    return {
      name,
      in: 'path',
      required: true,
      description: doc.params?.[name] ?? '',
      schema: { type: 'string' },
      ...(examples.length === 0 ? {} : { examples: Object.fromEntries(examples.map((value) => [value, { value }])) }),
    }
  })
  const inHeaders = Object.entries(doc.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }))
  return [...inPath, ...toQueryParameters(doc, schemas), ...inHeaders]
}

function toQueryParameters(doc: RouteDoc, schemas: JsonSchemas): Json[] {
  if (doc.query === undefined) return []
  const { properties, required } = schemas.of(doc.query) as {
    properties: Record<string, JsonSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required?.includes(name) ?? false,
    ...(description === undefined ? {} : { description }),
    ...(schema.type === 'object' ? { content: { 'application/json': { schema } } } : { schema }),
  }))
}

function toResponse({ description, content, headers }: DocResponse, schemas: JsonSchemas): Json {
  return {
    description,
    ...(headers === undefined ? {} : { headers: toHeaders(headers) }),
    ...(content === undefined ? {} : { content: toContent(content, schemas) }),
  }
}

function toHeaders(headers: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )
}

function toContent(content: DocContent, schemas: JsonSchemas): Json {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema: schemas.of(schema) }]))
}

function toErrors(doc: RouteDoc, schemas: JsonSchemas, authRequired: boolean): Json {
  if (doc.errors === undefined) return {}
  const codes = new Set([...doc.errors, ...common])
  if (authRequired && doc.scope !== 'open') codes.add('unauthorized')
  if (doc.body !== undefined) for (const code of withBody) codes.add(code)
  if (authRequired && doc.scope !== 'open' && doc.scope !== 'any') codes.add('forbidden')
  if (doc.method !== 'GET') for (const code of withEffect) codes.add(code)
  const byStatus = Map.groupBy([...codes], (code) => statusOf[code])
  const content = toContent({ 'application/json': ErrorBody }, schemas)
  const retry = { 'Retry-After': 'Seconds to wait before a retry.' }
  const allowance = {
    'RateLimit-Limit': 'The maximum number of requests per minute, which is also the maximum burst.',
    'RateLimit-Remaining': 'The number of requests left now.',
    'RateLimit-Reset': 'Seconds until the full number is available again.',
  }
  return Object.fromEntries(
    [...byStatus].map(([status, grouped]) => [
      status,
      {
        description: grouped.map((code) => `\`${code}\``).join(', '),
        ...(status === 429 ? { headers: toHeaders({ ...retry, ...allowance }) } : {}),
        ...(status === 503 ? { headers: toHeaders(retry) } : {}),
        content,
      },
    ]),
  )
}
