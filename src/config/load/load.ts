import { readFile, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { cosmiconfig } from 'cosmiconfig'
import { within } from '../../runtime/abort.ts'
import { isObject, show } from '../../schema/field.ts'
import { ConfigError } from '../config-error.ts'
import { applyEnvFile } from '../environment.ts'
import type { UserConfig } from '../types.ts'
import { describeUnsettled } from '../unsettled.ts'
import { importFresh } from './fresh-import.ts'
import { describeLoadError } from './load-error.ts'
import { namedFile } from './named-file.ts'

/** The first that exists is the config. */
const searchPlaces = ['agent.config.ts', 'agent.config.mts', 'agent.config.js', 'agent.config.mjs', 'package.json']

/** The config file that `loadConfig` would find in a folder, without running it. */
export async function findConfigFile(folder: string): Promise<string | undefined> {
  for (const place of searchPlaces) {
    const file = join(folder, place)
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text !== undefined && (place !== 'package.json' || /"agentserve"\s*:\s*\{/.test(text))) return file
  }
  return undefined
}

export interface LoadOptions {
  /** Only this folder is searched, never its parents. */
  folder: string
  /** The value of `--config`, relative to `folder`. */
  file?: string | undefined
  /** Called for a local file that is imported after loading, for example by a run. */
  onLateFile?: ((file: string) => void) | undefined
  /** Timeout of loading; default ten seconds. */
  patienceMs?: number | undefined
  signal?: AbortSignal | undefined
}

const defaultPatienceMs = 10_000

export interface LoadedConfig {
  /** Undefined without a config file. */
  file: string | undefined
  /** The folder of the file, else the searched folder. */
  root: string
  /** Undefined without a config file. */
  user: UserConfig | undefined
  /** The files whose change requires a reload; without a config, its possible places too. */
  files: string[]
}

/**
 * Finds and runs the user's config as it is on disk, after setting the variables of the `.env` beside it. Throws
 * ConfigError with file, line and excerpt, also at the timeout.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { folder, file, patienceMs: ms = defaultPatienceMs, signal } = options
  const files = new Set<string>()
  const late = () => {
    const named = file === undefined ? undefined : resolve(folder, file)
    const root = named === undefined ? resolve(folder) : dirname(named)
    const watched = [...files, join(root, '.env'), ...(named === undefined ? candidates(root) : [named])]
    const [first = named ?? join(root, '.env')] = files
    return describeUnsettled(first, [...files], ms, [...new Set(watched)])
  }
  return within(() => load(options, files), { ms, late, signal })
}

async function load(options: LoadOptions, files: Set<string>): Promise<LoadedConfig> {
  const named = options.file === undefined ? undefined : await namedFile(options.folder, options.file)
  const root = named === undefined ? resolve(options.folder) : dirname(named)
  const envFile = await applyEnvFile(root)
  let loaded = false
  try {
    const explorer = createExplorer(files, (path) => {
      if (loaded) options.onLateFile?.(path)
      else files.add(path)
    })
    const result = named === undefined ? await explorer.search(root) : await explorer.load(named)
    if (result === null) return { file: undefined, root, user: undefined, files: [...candidates(root), envFile] }
    files.add(result.filepath)
    const user = readUserConfig(result.config, result.filepath)
    loaded = true
    return { file: result.filepath, root, user, files: [...files, envFile] }
  } catch (error) {
    const { filepath } = error as { filepath?: string }
    const failed = await describeLoadError(error, named ?? filepath ?? root, files)
    throw withFiles(failed, [...files, envFile, ...(named === undefined ? candidates(root) : [named])])
  }
}

function createExplorer(files: ReadonlySet<string>, onFile: (path: string) => void) {
  // cosmiconfig would take the code ENOENT for a missing config and search on: our error has another code.
  const loadModule = async (path: string) => {
    try {
      const module = await importFresh(await realpath(path), onFile)
      const value = await module.default
      if (value === undefined) throw noExport(path)
      return value
    } catch (error) {
      throw await describeLoadError(error, path, files)
    }
  }
  return cosmiconfig('agentserve', {
    searchPlaces,
    searchStrategy: 'none',
    mergeSearchPlaces: false,
    ignoreEmptySearchPlaces: false,
    cache: false,
    loaders: { '.ts': loadModule, '.mts': loadModule, '.js': loadModule, '.mjs': loadModule },
  })
}

function noExport(file: string): ConfigError {
  return new ConfigError(`${name(file)} has no default export; write export default defineConfig({ … }).`, { file })
}

function readUserConfig(value: unknown, file: string): UserConfig {
  if (value === undefined) throw noExport(file)
  if (!isObject(value)) {
    throw new ConfigError(`${name(file)}: the default export must be defineConfig({ … }), not ${show(value)}.`, {
      file,
    })
  }
  return value
}

function withFiles(error: ConfigError, files: string[]): ConfigError {
  const { message, file, line, excerpt, details, cause } = error
  return new ConfigError(message, { file, line, excerpt, details, cause, files: [...new Set(files)] })
}

function candidates(root: string): string[] {
  return searchPlaces.map((place) => join(root, place))
}

function name(file: string): string {
  return relative(process.cwd(), file) || file
}
