import type { Team } from '../runnables/team/team.ts'
import type { KeySettings } from './settings/keys.ts'
import type { ScheduleSettings } from './settings/schedules.ts'
import type { KnowledgeSource } from './settings/sources.ts'
import type { WebhookSettings } from './settings/webhooks.ts'
import type { EntityId, UserConfig } from './types.ts'

declare const refused: unique symbol
/** What the compiler says of an unknown key: its name and those that may have been meant. */
interface NotASetting<KEY extends string, DID_YOU_MEAN extends string> {
  [refused]: [KEY, DID_YOU_MEAN]
}

/** What the compiler says of a member that is no entity of the config: its id and those that are there. */
interface NotAnEntity<ID extends string, ONE_OF extends string> {
  [refused]: [ID, ONE_OF]
}

/** Members that a team names by id must be entities of the same config. */
type KnownMembers<CONFIG extends UserConfig> = {
  teams?: {
    [KEY in keyof CONFIG['teams']]: CONFIG['teams'][KEY] extends Team<infer ID>
      ? string extends ID
        ? unknown
        : [Exclude<ID, EntityId<CONFIG>>] extends [never]
          ? unknown
          : NotAnEntity<Exclude<ID, EntityId<CONFIG>>, EntityId<CONFIG>>
      : unknown
  }
}

/** Schedules, too. */
type KnownAgents<CONFIG extends UserConfig> = {
  schedules?: {
    [KEY in keyof CONFIG['schedules']]: CONFIG['schedules'][KEY] extends { agent: infer ID extends string }
      ? string extends ID
        ? unknown
        : ID extends EntityId<CONFIG>
          ? unknown
          : { agent: NotAnEntity<ID, EntityId<CONFIG>> }
      : unknown
  }
}

type KeysOf<SETTINGS> = SETTINGS extends object ? keyof SETTINGS & string : never
type SameLetter<KEY, KNOWN extends string> = KEY extends `${infer LETTER}${string}`
  ? Extract<KNOWN, `${LETTER}${string}`>
  : never
/** No value is assignable to that of an unknown key. */
type KnownKeys<GIVEN, SETTINGS> = {
  [KEY in Exclude<keyof GIVEN & string, KeysOf<SETTINGS>>]: NotASetting<KEY, SameLetter<KEY, KeysOf<SETTINGS>>>
}
type KnownKeysOfEach<LIST, SETTINGS> = {
  [PLACE in keyof LIST]: LIST[PLACE] extends object ? KnownKeys<LIST[PLACE], SETTINGS> : unknown
}

/** Where the compiler does not see by itself that a key is unknown: at the top, and in lists. */
type KnownSettings<CONFIG> = KnownKeys<CONFIG, UserConfig> &
  (CONFIG extends { server: { auth: { keys: infer KEYS } } }
    ? { server: { auth: { keys: KnownKeysOfEach<KEYS, KeySettings> } } }
    : unknown) &
  (CONFIG extends { schedules: infer SCHEDULES }
    ? { schedules: KnownKeysOfEach<SCHEDULES, ScheduleSettings> }
    : unknown) &
  (CONFIG extends { webhooks: infer WEBHOOKS } ? { webhooks: KnownKeysOfEach<WEBHOOKS, WebhookSettings> } : unknown) &
  (CONFIG extends { knowledge: { sources: infer SOURCES } }
    ? { knowledge: { sources: KnownKeysOfEach<SOURCES, KnowledgeSource> } }
    : unknown)

/** Adds types to an `agent.config.ts`; returns its argument. */
export function defineConfig<const CONFIG extends UserConfig>(
  config: CONFIG & KnownMembers<CONFIG> & KnownAgents<CONFIG> & KnownSettings<CONFIG>,
): CONFIG {
  return config
}
