import { needsKey } from '../config/needs-key.ts'
import type { ResolvedServerConfig } from '../config/types.ts'
import { isLocal } from './listen.ts'

/**
 * The studio's path where it is served. Not where anyone could see everything: that is for addresses beyond this machine
 * without keys.
 */
export function servedStudio(server: ResolvedServerConfig): string | undefined {
  const { studio, address } = server
  return studio !== false && (needsKey(server) || isLocal(address.host)) ? studio.path : undefined
}
