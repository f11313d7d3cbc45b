import { isAbsolute, join, resolve } from 'node:path'
import type { Overrides } from './overrides.ts'
import type { ConfigParts } from './parts.ts'
import type { Address } from './settings/address.ts'
import { postgresStorage, resolvePostgres } from './settings/postgres.ts'
import type { CheckedServer } from './settings/server.ts'
import type { ResolvedServerConfig, ResolvedVectorDb } from './types.ts'

export const usualTimeoutMs = 30_000

/** Whether `createServer` of a user's program makes the server, or the command line. */
export type Purpose = 'library' | 'program'

export interface ServerPlace {
  purpose: Purpose
  root: string
  dataFolder: string
}

/** Resolves the fields that depend on flags, environment and purpose, and on each other; `server` has been checked. */
export function resolveServer(
  server: CheckedServer,
  overrides: Overrides,
  place: ServerPlace,
  parts: Pick<ConfigParts, 'summaryManager'>,
  complain: (path: string, message: string) => void,
): ResolvedServerConfig {
  const program = place.purpose === 'program'
  const { requestTimeout, stopWithin, maxRequestSize, auth, retention, storage, ...same } = server
  const { databaseUrl } = overrides
  const named = storage === undefined ? 'sessionStorage' : 'storage'
  const sessionStorage = resolveStorage(storage ?? server.sessionStorage, place, databaseUrl, (field, message) =>
    complain(`server.${named}.${field}`, message),
  )
  return {
    ...same,
    address: resolveAddress(server.address, overrides, program),
    sessionStorage,
    debug: overrides.debug ?? server.debug,
    allowHosts: overrides.allowHosts ?? server.allowHosts,
    requestTimeoutMs: requestTimeout ?? usualTimeoutMs,
    // Local models are slow to load.
    runTimeoutMs: requestTimeout ?? (program ? 600_000 : usualTimeoutMs),
    stopWithinMs: overrides.stopWithin ?? stopWithin,
    maxRequestBytes: maxRequestSize,
    vectorDb:
      storage === undefined
        ? resolveVectorDb(server.vectorDb, place, { sessionStorage, databaseUrl }, complain)
        : toVectorDb(sessionStorage),
    summaryManager: server.summaryManager ?? (program ? parts.summaryManager() : undefined),
    authKeys: overrides.keys ?? auth.keys,
    jwt: auth.jwt,
    allowUnauthenticated: overrides.allowUnauthenticated ?? server.allowUnauthenticated,
    retention: { maxAgeMs: retention.maxAge, maxSessions: retention.maxSessions },
  }
}

function resolveAddress(
  file: Address | undefined,
  overrides: Overrides,
  program: boolean,
): ResolvedServerConfig['address'] {
  const usual: Address = { host: program ? '127.0.0.1' : undefined, port: 8080 }
  const { host, port } = file ?? usual
  return {
    host: overrides.host ?? host,
    port: overrides.port ?? port,
    named: !program || overrides.port !== undefined || file !== undefined,
  }
}

function resolveStorage(
  storage: CheckedServer['sessionStorage'],
  { purpose, root, dataFolder }: ServerPlace,
  url: string | undefined,
  complain: (field: string, message: string) => void,
): ResolvedServerConfig['sessionStorage'] {
  if (storage === undefined) {
    if (purpose === 'library') return 'memory'
    return { type: 'sqlite', path: join(dataFolder, 'agentserve.db'), synchronous: 'FULL' }
  }
  if (storage === 'memory' || !('type' in storage)) return storage
  if (storage.type === 'sqlite') return { ...storage, path: resolve(root, storage.path) }
  return resolvePostgres(storage, { url, root }, complain) ?? 'memory'
}

function resolveVectorDb(
  given: CheckedServer['vectorDb'],
  place: ServerPlace,
  { sessionStorage, databaseUrl }: Pick<ResolvedServerConfig, 'sessionStorage'> & Pick<Overrides, 'databaseUrl'>,
  complain: (path: string, message: string) => void,
): ResolvedServerConfig['vectorDb'] {
  if (given === undefined && place.purpose === 'library') return undefined
  const settings = given ?? { type: 'lancedb' }
  const { type, baseUrl, ...same } = settings
  if (type === 'memory') return { type, ...same }
  if (type === 'lancedb') {
    const folder = baseUrl ?? join(place.dataFolder, 'knowledge')
    return { type, ...same, baseUrl: isAbsolute(folder) ? folder : resolve(place.root, folder) }
  }
  // Its own address, or all settings of the sessions' database.
  const shared = baseUrl === undefined ? toVectorDb(sessionStorage) : undefined
  if (shared !== undefined) return { ...shared, ...same }
  const checked = postgresStorage.parse({ type, ...(baseUrl !== undefined && { url: baseUrl }) })
  const storage = resolvePostgres(checked, { url: baseUrl ?? databaseUrl, root: place.root }, (field, message) =>
    complain(`server.vectorDb.${field === 'url' ? 'baseUrl' : field}`, message),
  )
  return storage && { type, ...same, storage }
}

/** Knowledge in the database of the sessions. */
function toVectorDb(storage: ResolvedServerConfig['sessionStorage']): ResolvedVectorDb | undefined {
  const isDatabase = typeof storage === 'object' && 'type' in storage && storage.type === 'postgres'
  return isDatabase ? { type: 'postgres', storage } : undefined
}
