import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'

const manifest = findPackageJSON('..', import.meta.url)

/** The folder of the installed package, which holds `templates`. */
export const packageFolder = manifest === undefined ? process.cwd() : dirname(manifest)
