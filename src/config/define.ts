import type { Team } from '../runnables/team/team.ts'
import type { EntityId, UserConfig } from './types.ts'

/** A team's members that are named by an id must be entities of the same config. */
type KnownMembers<CONFIG extends UserConfig> = {
  teams?: {
    [KEY in keyof CONFIG['teams']]: CONFIG['teams'][KEY] extends Team<infer ID>
      ? string extends ID
        ? unknown
        : Team<EntityId<CONFIG>>
      : unknown
  }
}

/** Gives an `agent.config.ts` its types; returns what it is given. */
export function defineConfig<const CONFIG extends UserConfig>(config: CONFIG & KnownMembers<CONFIG>): CONFIG {
  return config
}
