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
  pushNotifications: boolean
}

const modes = ['text/plain', 'application/json']

/** The card of an agent in a version; without one both in one, which readers of either understand. */
export function cardOf(facts: CardFacts, version: Version | undefined): JsonObject {
  const common = commonOf(facts)
  if (version === '1.0') return { ...common, ...in10(facts), ...(facts.needsKey && { securitySchemes: schemes10 }) }
  if (version === '0.3') return { ...common, ...in03(facts), ...(facts.needsKey && { securitySchemes: schemes03 }) }
  const schemes = {
    bearer: { ...schemes03.bearer, ...schemes10.bearer },
    apiKey: { ...schemes03.apiKey, ...schemes10.apiKey },
  }
  return { ...common, ...in03(facts), ...in10(facts), ...(facts.needsKey && { securitySchemes: schemes }) }
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

function in10({ url, needsKey }: CardFacts): JsonObject {
  const supportedInterfaces: Json = [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ]
  if (!needsKey) return { supportedInterfaces }
  const securityRequirements = [{ schemes: { bearer: { list: [] } } }, { schemes: { apiKey: { list: [] } } }]
  return { supportedInterfaces, securityRequirements }
}

function in03({ url, needsKey }: CardFacts): JsonObject {
  return {
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    supportsAuthenticatedExtendedCard: false,
    ...(needsKey && { security: [{ bearer: [] }, { apiKey: [] }] }),
  }
}

const schemes10 = {
  bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
}
const schemes03 = {
  bearer: { type: 'http', scheme: 'bearer' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
}
