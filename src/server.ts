import type { ConfigFlags } from './config/overrides.ts'
import { resolveConfig } from './config/resolve.ts'
import { usualTimeoutMs } from './config/server-config.ts'
import { serverSettings } from './config/settings/server.ts'
import type { ResolvedConfig, ServerConfig, UserConfig } from './config/types.ts'
import { createId } from './core/id.ts'
import { silentLogger } from './core/logger.ts'
import { type A2A, createA2A as createInterface } from './protocols/a2a/a2a.ts'
import type { TestDoubles } from './runnables/base/defaults.ts'
import { systemTimers } from './runtime/timers.ts'
import { checkSettings } from './schema/check.ts'
import { configParts } from './server/parts.ts'
import { composeServer } from './server/server.ts'
import type { OpenServer, Server, ServerPurpose } from './server/types.ts'
import { createRegistry } from './service/registry.ts'
import { createRuns } from './service/runs/runs.ts'
import { createSessions } from './service/sessions/sessions.ts'
import { memoryStore } from './store/sessions/memory/store.ts'

export { ingestSources } from './server/knowledge/ingest-sources.ts'
export { configParts } from './server/parts.ts'
export type { HealthRouter, OpenServer, OwnedFolder, Server, ServerPurpose, ShutdownOptions } from './server/types.ts'
export type { ConfigFlags }

/** What a config has in `server`, its prices, schedules and webhooks. */
export interface EmbeddedConfig extends ServerConfig, Pick<UserConfig, 'prices' | 'schedules' | 'webhooks'> {}

/**
 * Creates a server from the settings of `server`, or from a whole config: then its agents are registered and its sources
 * ingested. Nothing is durable unless it says so. Throws for an invalid field, with the key and the allowed values.
 */
export function createServer(given: EmbeddedConfig | UserConfig = {}): Server {
  const config = resolveConfig({
    user: isWhole(given) ? withVectors(given) : { ...partsOf(given), agents: {} },
    root: process.cwd(),
    purpose: 'library',
    parts: configParts,
  })
  return composeServer(config, { mode: 'embedded' })
}

const wholeKeys = ['agents', 'teams', 'workflows', 'knowledge', 'mcpServers', 'server']

function isWhole(given: EmbeddedConfig | UserConfig): given is UserConfig {
  return typeof given === 'object' && given !== null && wholeKeys.some((key) => key in given)
}

/** Sources need a vector database; without one that is named, they are in memory. */
function withVectors(user: UserConfig): UserConfig {
  const { vectorDb, storage } = user.server ?? {}
  const named = user.knowledge?.sources !== undefined && vectorDb === undefined && storage === undefined
  return {
    ...user,
    agents: user.agents ?? {},
    ...(named && { server: { vectorDb: { type: 'memory' }, ...user.server } }),
  }
}

/** A value that is no object goes to the check as it is. */
function partsOf(given: EmbeddedConfig): Pick<UserConfig, 'server' | 'prices' | 'schedules' | 'webhooks'> {
  if (typeof given !== 'object' || given === null) return { server: given }
  const { prices, schedules, webhooks, ...server } = given
  return {
    server,
    ...(prices !== undefined && { prices }),
    ...(schedules !== undefined && { schedules }),
    ...(webhooks !== undefined && { webhooks }),
  }
}

/** The server of a config for tests: nothing is durable, and it does not use the network. */
export function openTestServer(user: UserConfig, root: string, testDoubles: TestDoubles | undefined): OpenServer {
  const server: ServerConfig = {
    requestTimeout: '10m',
    logger: silentLogger,
    ...user.server,
    storage: undefined,
    sessionStorage: 'memory',
    vectorDb: { type: 'memory' },
    embedding: { provider: 'lexical' },
  }
  // Tests start the runs themselves, and tell nobody.
  const quiet = { ...user, server, schedules: {}, webhooks: {} }
  const config = resolveConfig({ user: quiet, root, purpose: 'library', parts: configParts, testDoubles })
  return composeServer(config, { mode: 'embedded' })
}

/** The server of a loaded config, for the command line. */
export function openServer(
  config: ResolvedConfig,
  { mode = 'command', ...purpose }: Partial<ServerPurpose> = {},
): OpenServer {
  return composeServer(config, { mode, ...purpose })
}

export interface A2AConfig {
  /** Any path; default `/api/v1/a2a`. */
  prefix?: string
  /** Time limit of a run. Default: 30 s. */
  requestTimeout?: number | string
}

/** The A2A interface without a server: its own entities and in-memory sessions, for any router. */
export function createA2A({ prefix, requestTimeout }: A2AConfig = {}): A2A {
  const usual = checkSettings('createA2A()', serverSettings, { requestTimeout })
  const registry = createRegistry()
  const store = memoryStore()
  const runs = createRuns({
    store,
    registry,
    logger: silentLogger,
    clock: Date.now,
    timers: systemTimers,
    requestTimeoutMs: usual.requestTimeout ?? usualTimeoutMs,
    bounds: usual.limits,
    owner: createId('own'),
  })
  const sessions = createSessions(store, runs, Date.now, usual.limits)
  let opened: Promise<void> | undefined
  return createInterface({
    prefix: prefix ?? usual.a2a.prefix,
    registry,
    fileBytes: usual.limits.fileBytes,
    async services() {
      opened ??= store.open()
      await opened
      return { registry, runs, sessions, logger: silentLogger }
    },
  })
}
