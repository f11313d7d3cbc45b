import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * For the environment of a program that Node runs from the TypeScript of this repository: what Node has made of the modules
 * stays for the next start, which then takes half the time. A program that is killed leaves nothing, unless it
 * has called `flushCompileCache` of node:module before.
 */
export const compileCache = (): Record<string, string> => ({ NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') })
