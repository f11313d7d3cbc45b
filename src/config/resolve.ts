import { dirname, relative, resolve } from 'node:path'
import { type ErrorDetail, isAppError } from '../core/error.ts'
import type { Limits } from '../core/limits.ts'
import type { TestDoubles } from '../runnables/base/defaults.ts'
import type { McpServers } from '../runnables/mcp/mcp.ts'
import { check, sentence } from '../schema/check.ts'
import { withBuiltIn } from './built-in.ts'
import { ConfigError } from './config-error.ts'
import { checkNamed, resolveEntities } from './entities.ts'
import type { Environment } from './environment.ts'
import { type ConfigFlags, readOverrides } from './overrides.ts'
import type { ConfigParts } from './parts.ts'
import { type Purpose, resolveServer } from './server-config.ts'
import { divideSources } from './settings/sources.ts'
import { type CheckedConfig, userSettings } from './settings/user.ts'
import type { ResolvedConfig, UserConfig } from './types.ts'
import { disposeWithin } from './unsettled.ts'

const without = { session: undefined, user: undefined, metadata: undefined }
const unfiltered = { events: undefined, agents: undefined }

export interface ResolveOptions {
  /** Undefined for the built-in config. */
  user: UserConfig | undefined
  file?: string | undefined
  root: string
  purpose: Purpose
  flags?: ConfigFlags | undefined
  environment?: Environment | undefined
  parts: ConfigParts
  testDoubles?: TestDoubles | undefined
}

/**
 * Resolves every field: flags over environment over file over defaults. Throws one ConfigError with all problems; each
 * names file, key, value and what is allowed.
 */
export function resolveConfig(options: ResolveOptions): ResolvedConfig {
  const { root, purpose, parts } = options
  const complaints: ErrorDetail[] = []
  const complain = (path: string, message: string) => void complaints.push({ path, message })
  const given =
    purpose === 'library' && options.user !== undefined ? options.user : withBuiltIn(options.user, parts, root)
  const user = check(userSettings, given, '', complain)
  const hasKnowledge = user?.server.vectorDb !== undefined || user?.server.storage !== undefined
  if (purpose === 'library' && user?.knowledge.sources !== undefined && !hasKnowledge) {
    complain('knowledge.sources', "needs server.vectorDb, for example { type: 'lancedb' }")
  }
  const overrides = readOverrides(options.flags ?? {}, options.environment ?? {}, complain)
  if (user === undefined || complaints.length > 0) throw refusal(complaints, options)
  const dataFolder = resolveDataFolder(root, overrides.data)
  const server = resolveServer(user.server, overrides, { purpose, root, dataFolder }, parts, complain)
  const { sessionStorage: storage, limits } = server
  const fileFolder = typeof storage === 'object' && 'path' in storage ? dirname(storage.path) : undefined
  const mcp = resolveMcpServers(user, root, limits, purpose === 'program' ? dataFolder : fileFolder, parts, complain)
  const { testDoubles } = options
  const entities = resolveEntities(
    user,
    {
      model: user.model,
      root,
      mcp,
      testDoubles,
      limits,
      fetchUrls: server.files.fetchUrls,
      runTimeoutMs: server.runTimeoutMs,
    },
    parts,
    complain,
  )
  // Entities of a library may be registered later.
  if (purpose === 'program' || entities.size > 0) checkNamed(user, [...entities.keys()], complain)
  if (complaints.length > 0) {
    void mcp.close()
    throw refusal(complaints, options)
  }
  return {
    file: options.file,
    root,
    dataFolder,
    model: user.model,
    prices: user.prices,
    knowledge: {
      ...user.knowledge,
      ...divideSources(user.knowledge.sources ?? []),
      areNamed: options.user?.knowledge?.sources !== undefined,
    },
    entities,
    schedules: Object.entries(user.schedules).map(([name, schedule]) => ({ ...without, ...schedule, name })),
    webhooks: Object.entries(user.webhooks).map(([name, webhook]) => ({ ...unfiltered, ...webhook, name })),
    server,
    mcp,
    testDoubles,
    dispose: async () => {
      try {
        await disposeWithin(user.dispose, options.file)
      } finally {
        await mcp.close()
      }
    },
  }
}

/** The value of `--data` or AGENTSERVE_DATA, else `.agentserve`, relative to `root`. */
export function resolveDataFolder(root: string, named: string | undefined): string {
  return resolve(root, named ?? '.agentserve')
}

function resolveMcpServers(
  { mcpServers }: CheckedConfig,
  root: string,
  { mcpMessageBytes }: Limits,
  dataFolder: string | undefined,
  parts: ConfigParts,
  complain: (path: string, message: string) => void,
): McpServers {
  const sound: Record<string, unknown> = {}
  for (const [name, server] of Object.entries(mcpServers)) {
    try {
      parts.mcpServers({ [name]: server }, root, mcpMessageBytes)
      sound[name] = server
    } catch (error) {
      if (!isAppError(error)) throw error
      for (const { path, message } of error.details)
        complain(['mcpServers', name, path].filter(Boolean).join('.'), message)
    }
  }
  return parts.mcpServers(sound, root, mcpMessageBytes, dataFolder)
}

function refusal(complaints: readonly ErrorDetail[], { file }: ResolveOptions): ConfigError {
  const name = file === undefined ? 'config' : relative(process.cwd(), file) || file
  const lines = complaints.map(({ path, message }) => {
    const place = /^(?:--|AGENTSERVE_)/.test(path) ? '' : `${name}: `
    return sentence(`${place}${path} ${message}`)
  })
  return new ConfigError(lines.join('\n'), { file, details: complaints })
}
