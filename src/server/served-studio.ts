import type { ResolvedServerConfig } from '../config/types.ts'
import { isLocal } from './listen.ts'

/**
 * The studio's path where it is served. Not where anyone could see everything: that is for addresses beyond this machine
 * without keys.
 */
export function servedStudio({ studio, authKeys, address }: ResolvedServerConfig): string | undefined {
  return studio !== false && (authKeys.length > 0 || isLocal(address.host)) ? studio.path : undefined
}
