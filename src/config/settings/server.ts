import { isAbsolute, join, resolve } from 'node:path'
import { parseDuration } from '../../core/duration.ts'
import type { Overrides } from '../overrides.ts'
import type { ConfigParts } from '../parts.ts'
import type { ResolvedServerConfig, ServerConfig } from '../types.ts'
import { parseAddress } from './address.ts'
import { defaults } from './defaults.ts'
import { resolveKeys } from './keys.ts'
import { resolveLimits } from './limits.ts'
import { parseSize } from './size.ts'

/** Where the server is made: `createServer` in somebody's program, or the command line. */
export type Purpose = 'library' | 'program'

export interface ServerPlace {
  purpose: Purpose
  root: string
  dataFolder: string
}

/** Decides every field; `server` has been checked. */
export function resolveServer(
  server: ServerConfig,
  overrides: Overrides,
  place: ServerPlace,
  parts: Pick<ConfigParts, 'summaryManager'>,
): ResolvedServerConfig {
  const program = place.purpose === 'program'
  return {
    address: resolveAddress(server, overrides, program),
    prefix: normalisePrefix(server.prefix ?? defaults.prefix),
    sessionStorage: resolveStorage(server, place),
    logger: server.logger,
    debug: overrides.debug ?? server.debug ?? defaults.debug,
    allowOrigins: server.allowOrigins ?? [],
    allowMethods: server.allowMethods,
    allowHeaders: server.allowHeaders,
    allowHosts: overrides.allowHosts ?? server.allowHosts ?? [],
    requestTimeoutMs: parseDuration(server.requestTimeout) ?? defaults.requestTimeoutMs,
    maxRequestBytes: parseSize(server.maxRequestSize) ?? defaults.maxRequestBytes,
    healthPath: normalisePrefix(server.healthPath ?? defaults.healthPath) || '/',
    vectorDb: resolveVectorDb(server, place),
    embedding: { provider: defaults.embeddingProvider, ...given(server.embedding ?? {}) },
    knowledgeApi: { ...defaults.knowledgeApi, ...given(server.knowledgeApi ?? {}) },
    summaryManager: server.summaryManager ?? (program ? parts.summaryManager() : undefined),
    a2aPrefix: normalisePrefix(server.a2a?.prefix ?? defaults.a2aPrefix),
    authKeys: resolveKeys(overrides.keys ?? server.auth?.keys ?? []),
    limits: resolveLimits(server.limits),
    allowUnauthenticated:
      overrides.allowUnauthenticated ?? server.allowUnauthenticated ?? defaults.allowUnauthenticated,
    trustProxy: toProxies(server.trustProxy),
    retention: {
      maxAgeMs: parseDuration(server.retention?.maxAge),
      maxSessions: server.retention?.maxSessions,
    },
  }
}

function toProxies(given: ServerConfig['trustProxy']): readonly string[] {
  if (given === undefined || given === false) return []
  return typeof given === 'string' ? [given] : given
}

function resolveAddress(server: ServerConfig, overrides: Overrides, program: boolean): ResolvedServerConfig['address'] {
  const file = server.address === undefined ? undefined : parseAddress(server.address)
  const fileHost = file === undefined ? (program ? defaults.program.host : undefined) : file.host
  return {
    host: overrides.host ?? fileHost,
    port: overrides.port ?? file?.port ?? defaults.port,
    named: !program || overrides.port !== undefined || file !== undefined,
  }
}

function resolveStorage(server: ServerConfig, place: ServerPlace): ResolvedServerConfig['sessionStorage'] {
  const storage = server.sessionStorage
  if (storage === undefined) {
    if (place.purpose === 'library') return 'memory'
    return { type: 'sqlite', path: join(place.dataFolder, defaults.databaseFile), synchronous: defaults.synchronous }
  }
  if (storage === 'memory' || !('type' in storage)) return storage
  return {
    type: 'sqlite',
    path: resolve(place.root, storage.path),
    synchronous: storage.synchronous ?? defaults.synchronous,
  }
}

function resolveVectorDb(server: ServerConfig, place: ServerPlace): ResolvedServerConfig['vectorDb'] {
  if (server.vectorDb === undefined && place.purpose === 'library') return undefined
  const settings = given(server.vectorDb ?? {})
  const type = settings.type ?? defaults.vectorDbType
  if (type === 'memory') return { ...settings, type }
  const folder = settings.baseUrl ?? join(place.dataFolder, defaults.knowledgeFolder)
  return { ...settings, type, baseUrl: isAbsolute(folder) ? folder : resolve(place.root, folder) }
}

/** Without the trailing slash; `/` becomes empty. */
function normalisePrefix(prefix: string): string {
  return prefix.replace(/\/{2,}/g, '/').replace(/\/$/, '')
}

/** Without the keys whose value is undefined, so that they don't hide a default. */
function given<T extends object>(settings: T): T {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as T
}
