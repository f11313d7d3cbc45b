import type { UserConfig } from './types.ts'

/** Gives an `agent.config.ts` its types; returns what it is given. */
export function defineConfig<const T extends UserConfig>(config: T): T {
  return config
}
