import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Takes `name.browser.ts` in place of `name.ts`, for the files of a folder that have both; so with another ending. */
export function inBrowsers(folder: string, ending = 'browser') {
  return {
    name: `in-browsers-${ending}`,
    resolveId(specifier: string, importer: string | undefined) {
      if (importer === undefined || !/^\.{1,2}\/.*\.ts$/.test(specifier)) return null
      const file = join(importer, '..', specifier.replace(/\.ts$/, `.${ending}.ts`))
      return file.startsWith(resolve(folder)) && existsSync(file) ? file : null
    },
  }
}
