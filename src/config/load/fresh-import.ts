import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isOwnFile } from './own-files.ts'

/**
 * Node caches a module by its URL. So each load of a config has a number, which the hook below adds as a query to the
 * config and the local files that it imports, directly or indirectly: all are read again. CommonJS files are cached by
 * path, and are removed from that cache before each load.
 */

const versionQuery = /[?&]asv=(\d+)/
const commonJs = createRequire(import.meta.url).cache

interface Load {
  version: number
  onFile: (path: string) => void
  files: Set<string>
}

let load: Load | undefined

/**
 * Imports `file` and its local imports as they are on disk now. `onFile` gets each path that is read, including later
 * imports until the next load.
 */
export async function importFresh(file: string, onFile: (path: string) => void): Promise<Record<string, unknown>> {
  if (load === undefined) registerHooks({ resolve: resolveFresh })
  else for (const path of load.files) delete commonJs[path]
  load = { version: (load?.version ?? 0) + 1, onFile, files: new Set([file]) }
  onFile(file)
  return await import(/* @vite-ignore */ `${pathToFileURL(file).href}?asv=${load.version}`)
}

const resolveFresh: Parameters<typeof registerHooks>[0]['resolve'] = (specifier, context, nextResolve) => {
  const result = nextResolve(specifier, context)
  const { parentURL } = context
  if (load === undefined || !parentURL?.startsWith('file:') || !result.url.startsWith('file:')) return result
  const version = versionQuery.exec(parentURL)?.[1]
  // The parent of a required file is a plain path.
  if ((version === undefined && !load.files.has(fileURLToPath(parentURL))) || versionQuery.test(result.url))
    return result
  const path = fileURLToPath(result.url)
  if (/[\\/]node_modules[\\/]/.test(path) || isOwnFile(path)) return result
  if ((version === undefined || Number(version) === load.version) && !load.files.has(path)) {
    load.files.add(path)
    load.onFile(path)
  }
  if (version === undefined) return result
  return { ...result, url: `${result.url}${result.url.includes('?') ? '&' : '?'}asv=${version}` }
}
