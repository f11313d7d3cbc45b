import type { ResolvedServerConfig } from './types.ts'

/** Whether callers need a key or a token. */
export function needsKey({ authKeys, jwt }: Pick<ResolvedServerConfig, 'authKeys' | 'jwt'>): boolean {
  return authKeys.length > 0 || jwt !== undefined
}
