import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isOwnFile } from './own-files.ts'

/*
 * Node keeps a module for good under its URL. So each load of a config has a number, which the hook below passes on as a
 * query from the config to the local files that it imports, and from these to theirs: all of them are read anew.
 * CommonJS has another cache, that the query does not reach: such files are read once.
 */

const versionQuery = /[?&]asv=(\d+)/

/** Of each load: the local files that it has read. */
const filesOf = new Map<number, Set<string>>()
let versions = 0
let installed = false

/** Imports `file` and what it imports locally as they are on disk now; `files` takes the paths of all that was read. */
export async function importFresh(file: string, files: Set<string>): Promise<Record<string, unknown>> {
  if (!installed) {
    registerHooks({ resolve: resolveFresh })
    installed = true
  }
  const version = ++versions
  filesOf.set(version, files)
  files.add(file)
  return await import(/* @vite-ignore */ `${pathToFileURL(file).href}?asv=${version}`)
}

const resolveFresh: Parameters<typeof registerHooks>[0]['resolve'] = (specifier, context, nextResolve) => {
  const result = nextResolve(specifier, context)
  const version = versionQuery.exec(context.parentURL ?? '')?.[1]
  if (version === undefined || !result.url.startsWith('file:') || versionQuery.test(result.url)) return result
  const path = fileURLToPath(result.url)
  if (/[\\/]node_modules[\\/]/.test(path) || isOwnFile(path)) return result
  filesOf.get(Number(version))?.add(path)
  if (result.format?.startsWith('commonjs')) return result
  return { ...result, url: `${result.url}${result.url.includes('?') ? '&' : '?'}asv=${version}` }
}
