import { type SecurityScheme, schemesOf, type TokenIssuer } from '../../../core/access/security-scheme.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import type { EntityInfo } from '../../../core/runnable.ts'
import type { Version } from './versions.ts'

export interface CardFacts {
  info: EntityInfo
  url: string
  /** Of the server. */
  version: string
  /** Whether requests need a key. */
  needsKey: boolean
  /** Of tokens that are taken beside keys. */
  tokenIssuer?: TokenIssuer | undefined
  pushNotifications: boolean
}

const modes = ['text/plain', 'application/json']

/** The card of an agent in a version; without one both in one, which readers of either understand. */
export function cardOf(facts: CardFacts, version: Version | undefined): JsonObject {
  const common = commonOf(facts)
  if (version === '1.0') return { ...common, ...in10(facts), ...schemesIn(facts, scheme10) }
  if (version === '0.3') return { ...common, ...in03(facts), ...schemesIn(facts, scheme03) }
  const both: SchemeIn = (scheme, url) => ({ ...scheme03(scheme, url), ...scheme10(scheme, url) })
  return { ...common, ...in03(facts), ...in10(facts), ...schemesIn(facts, both) }
}

function commonOf({ info, version, pushNotifications }: CardFacts): JsonObject {
  const name = info.name ?? info.id
  const description = info.description ?? `The ${info.kind} '${info.id}'.`
  const tags = info.knowledge ? [info.kind, 'knowledge'] : [info.kind]
  return {
    name,
    description,
    version,
    capabilities: { streaming: true, pushNotifications },
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: [{ id: info.id, name, description, tags }],
  }
}

function in10({ url, needsKey, tokenIssuer }: CardFacts): JsonObject {
  const supportedInterfaces: Json = [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ]
  if (!needsKey) return { supportedInterfaces }
  const securityRequirements = schemesOf(tokenIssuer).map((scheme) => ({ schemes: { [scheme]: { list: [] } } }))
  return { supportedInterfaces, securityRequirements }
}

function in03({ url, needsKey, tokenIssuer }: CardFacts): JsonObject {
  return {
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    supportsAuthenticatedExtendedCard: false,
    ...(needsKey && { security: schemesOf(tokenIssuer).map((scheme) => ({ [scheme]: [] })) }),
  }
}

type SchemeIn = (scheme: SecurityScheme, openIdConnectUrl: string) => JsonObject

function schemesIn({ needsKey, tokenIssuer }: CardFacts, schemeIn: SchemeIn): JsonObject {
  if (!needsKey) return {}
  const schemes = schemesOf(tokenIssuer).map((scheme) => [scheme, schemeIn(scheme, tokenIssuer?.openIdUrl ?? '')])
  return { securitySchemes: Object.fromEntries(schemes) }
}

function scheme10(scheme: SecurityScheme, openIdConnectUrl: string): JsonObject {
  if (scheme === 'bearer') return { httpAuthSecurityScheme: { scheme: 'Bearer' } }
  if (scheme === 'apiKey') return { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } }
  return { openIdConnectSecurityScheme: { openIdConnectUrl } }
}

function scheme03(scheme: SecurityScheme, openIdConnectUrl: string): JsonObject {
  if (scheme === 'bearer') return { type: 'http', scheme: 'bearer' }
  if (scheme === 'apiKey') return { type: 'apiKey', in: 'header', name: 'X-API-Key' }
  return { type: 'openIdConnect', openIdConnectUrl }
}
