import { dirname, resolve } from 'node:path'
import type { ConfigFlags } from '../config/overrides.ts'
import { resolveDataFolder } from '../config/resolve.ts'
import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { ProjectOptions } from './flags.ts'

export interface Project {
  config: ResolvedConfig
  /** What a change of calls for a reload. */
  files: string[]
}

/** Reads and decides the configuration as it is now. Throws ConfigError. */
export async function loadProject(
  options: ProjectOptions,
  flags: ConfigFlags,
  logger: Logger | undefined,
): Promise<Project> {
  const [{ loadConfig }, { resolveConfig }, { configParts }] = await Promise.all([
    import('../config/load.ts'),
    import('../config/resolve.ts'),
    import('../server.ts'),
  ])
  const { user, file, root, files } = await loadConfig({ folder: process.cwd(), file: options.config })
  const environment = process.env
  const config = resolveConfig({ user, file, root, purpose: 'program', flags, environment, parts: configParts })
  config.server.logger ??= logger
  return { config, files }
}

/** Where the data are, without running the config; the `.env` beside it has a say. */
export async function findDataFolder(options: ProjectOptions): Promise<string> {
  const { applyEnvFile } = await import('../config/environment.ts')
  const root = options.config === undefined ? process.cwd() : dirname(resolve(options.config))
  await applyEnvFile(root)
  return resolveDataFolder(root, options.data ?? (process.env.AGENTSERVE_DATA || undefined))
}
