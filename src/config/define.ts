import type { Team } from '../runnables/team/team.ts'
import type { EntityId, UserConfig } from './types.ts'

/** Members that a team names by id must be entities of the same config. */
type KnownMembers<CONFIG extends UserConfig> = {
  teams?: {
    [KEY in keyof CONFIG['teams']]: CONFIG['teams'][KEY] extends Team<infer ID>
      ? string extends ID
        ? unknown
        : Team<EntityId<CONFIG>>
      : unknown
  }
}

/** Adds types to an `agent.config.ts`; returns its argument. */
export function defineConfig<const CONFIG extends UserConfig>(config: CONFIG & KnownMembers<CONFIG>): CONFIG {
  return config
}
