import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Takes `name.browser.ts` in place of `name.ts`, for the files of a folder that have both. */
export function inBrowsers(folder: string) {
  return {
    name: 'in-browsers',
    resolveId(specifier: string, importer: string | undefined) {
      if (importer === undefined || !/^\.{1,2}\/.*\.ts$/.test(specifier)) return null
      const file = join(importer, '..', specifier.replace(/\.ts$/, '.browser.ts'))
      return file.startsWith(resolve(folder)) && existsSync(file) ? file : null
    },
  }
}
