import { dirname } from 'node:path'
import type { LoadOptions } from '../../config/load/load.ts'
import { namedFile } from '../../config/load/named-file.ts'
import type { ConfigFlags } from '../../config/overrides.ts'
import { resolveDataFolder } from '../../config/resolve.ts'
import type { ResolvedConfig } from '../../config/types.ts'
import type { Logger } from '../../core/logger.ts'
import type { ProjectOptions } from '../command/flags.ts'
import { terminalLogger } from '../terminal/logger.ts'

export interface Project {
  config: ResolvedConfig
  files: string[]
  /** Start of the read, in milliseconds since the epoch. */
  readAtMs: number
}

/** Loads the configuration. `onLateFile` and `signal`: see `loadConfig`. Throws ConfigError. */
export async function loadProject(
  options: ProjectOptions,
  flags: ConfigFlags,
  logger: Logger | undefined,
  { onLateFile, signal }: Pick<LoadOptions, 'onLateFile' | 'signal'> = {},
): Promise<Project> {
  const readAtMs = Date.now()
  const [{ loadConfig }, { resolveConfig }, { configParts }] = await Promise.all([
    import('../../config/load/load.ts'),
    import('../../config/resolve.ts'),
    import('../../server.ts'),
  ])
  const { user, file, root, files } = await loadConfig({
    folder: process.cwd(),
    file: options.config,
    onLateFile,
    signal,
  })
  const environment = process.env
  const config = resolveConfig({ user, file, root, purpose: 'program', flags, environment, parts: configParts })
  config.server.logger ??= logger
  return { config, files, readAtMs }
}

/** Closes the project afterwards. */
export async function withProject<T>(
  options: ProjectOptions,
  signal: AbortSignal,
  use: (config: ResolvedConfig) => Promise<T>,
): Promise<T> {
  const { config } = await loadProject(options, { data: options.data }, terminalLogger({ quiet: true }), { signal })
  try {
    return await use(config)
  } finally {
    await config.dispose?.()
  }
}

/** Finds the data folder without running the config, which must exist; reads the `.env` beside it. */
export async function findDataFolder({ config, data }: ProjectOptions): Promise<string> {
  const { applyEnvFile } = await import('../../config/environment.ts')
  const root = config === undefined ? process.cwd() : dirname(await namedFile(process.cwd(), config))
  await applyEnvFile(root)
  return resolveDataFolder(root, data ?? (process.env.AGENTSERVE_DATA || undefined))
}
