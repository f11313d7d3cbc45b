import type { RemoteSource } from '../core/knowledge/remote-source.ts'
import type { ModelChoice } from '../core/model.ts'
import type { Runnable } from '../core/runnable.ts'
import type { SessionStore } from '../core/store.ts'
import type { Schedule } from '../core/triggers/schedule.ts'
import type { Webhook } from '../core/triggers/webhook.ts'
import type { GivenPrices } from '../models/prices/cost.ts'
import type { TestDoubles } from '../runnables/base/defaults.ts'
import type { McpServers } from '../runnables/mcp/mcp.ts'
import type { Address } from './settings/address.ts'
import type { ResolvedJwt } from './settings/jwt.ts'
import type { ResolvedKey } from './settings/keys.ts'
import type { PostgresStorage } from './settings/postgres.ts'
import type { CheckedServer, SqliteStorage, SummaryManagerLike } from './settings/server.ts'
import type { CheckedConfig, UserConfig } from './settings/user.ts'

export type { Duration } from '../core/duration.ts'
export type { CompatibleModel, ModelChoice, ModelSetting } from '../core/model.ts'
export type { ServerConfig } from './settings/server.ts'
export type { UserConfig } from './settings/user.ts'

/** The ids of a config's agents, teams and workflows; any string if the type of the config does not name them. */
export type EntityId<CONFIG extends UserConfig> = {
  [KIND in 'agents' | 'teams' | 'workflows']: CONFIG extends { [KEY in KIND]?: infer ENTITIES }
    ? keyof NonNullable<ENTITIES> & string
    : never
}['agents' | 'teams' | 'workflows']

/** Every field resolved; fields that do not depend on program and flags are as in the schema. */
export interface ResolvedServerConfig
  extends Omit<
    CheckedServer,
    | 'address'
    | 'storage'
    | 'sessionStorage'
    | 'vectorDb'
    | 'requestTimeout'
    | 'stopWithin'
    | 'maxRequestSize'
    | 'summaryManager'
    | 'auth'
    | 'retention'
  > {
  address: Address & {
    /** The user set the port, so no other one is tried. */
    named: boolean
  }
  sessionStorage: 'memory' | SqliteStorage | PostgresStorage | SessionStore
  vectorDb: ResolvedVectorDb | undefined
  requestTimeoutMs: number
  /** `requestTimeout` of routes that wait for a run. */
  runTimeoutMs: number
  /** How long runs may take to end once the server stops. */
  stopWithinMs: number
  maxRequestBytes: number
  summaryManager: SummaryManagerLike | undefined
  authKeys: ResolvedKey[]
  /** Tokens that are accepted beside keys. */
  jwt: ResolvedJwt | undefined
  retention: { maxAgeMs: number | undefined; maxSessions: number | undefined }
}

type VectorDb = NonNullable<CheckedServer['vectorDb']>

export type ResolvedVectorDb = Pick<VectorDb, 'collectionName' | 'database' | 'tenant'> &
  ({ type: 'lancedb' | 'memory'; baseUrl?: string | undefined } | { type: 'postgres'; storage: PostgresStorage })

export interface ResolvedConfig {
  /** Undefined for the built-in config. */
  file: string | undefined
  /** Base of relative paths: the folder of the config file, else the working directory. */
  root: string
  dataFolder: string
  model: ModelChoice | undefined
  prices: GivenPrices
  knowledge: Omit<CheckedConfig['knowledge'], 'sources'> & {
    /** Files, folders and globs. */
    sources: string[]
    /** Websites and repositories. */
    remote: RemoteSource[]
    /** Whether a config names them; else they are those of the built-in one. */
    areNamed: boolean
  }
  /** In the order of the file: agents, teams, workflows. */
  entities: Map<string, Runnable>
  schedules: readonly Schedule[]
  webhooks: readonly Webhook[]
  server: ResolvedServerConfig
  mcp: McpServers
  testDoubles: TestDoubles | undefined
  /** Calls the user's `dispose`, then ends the MCP servers. */
  dispose: (() => void | Promise<void>) | undefined
}
