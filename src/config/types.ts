import type { Duration } from '../core/duration.ts'
import type { Limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import type { ModelSetting } from '../core/model.ts'
import type { Runnable } from '../core/runnable.ts'
import type { SessionStore } from '../core/store.ts'
import type { Summarizer } from '../core/summary.ts'
import type { ModelType } from '../knowledge/embedders/model-files.ts'
import type { TestDoubles } from '../runnables/base/defaults.ts'
import type { McpServers } from '../runnables/mcp/mcp.ts'
import type { McpServer } from '../runnables/mcp/settings.ts'
import type { KeySettings, ResolvedKey } from './settings/keys.ts'
import type { ServerLimits } from './settings/limit-types.ts'

export type { Duration } from '../core/duration.ts'
export type { CompatibleModel, ModelSetting } from '../core/model.ts'

/** Bytes, or a number with a unit of 1,024: `'512KB'`, `'10MB'`. */
export type ByteSize = number | string

export interface SqliteStorage {
  type: 'sqlite'
  /** The file; `:memory:` is not accepted. */
  path: string
  /** Default `FULL`: an answer given survives a power cut. */
  synchronous?: 'FULL' | 'NORMAL'
}

export interface VectorDbConfig {
  type?: 'lancedb' | 'memory'
  /** For LanceDB the folder. */
  baseUrl?: string
  collectionName?: string
  database?: string
  tenant?: string
}

export interface EmbeddingConfig {
  provider?: 'auto' | 'transformers' | 'lexical' | 'openai'
  apiKey?: string
  model?: string
  baseUrl?: string
  /** How exact the numbers of a sentence model are; default: what is in the cache, `q8` when it is downloaded. */
  dtype?: ModelType
}

export interface KnowledgeApi {
  search?: boolean
  config?: boolean
  content?: boolean
  documents?: boolean
}

/** Kept under the specification's name; what it does is a `Summarizer` with a time limit. */
export interface SummaryManagerLike {
  readonly summarizer: Summarizer
  readonly timeoutMs: number
}

/** The specification's server configuration. */
export interface ServerConfig {
  address?: string
  prefix?: string
  sessionStorage?: 'memory' | SqliteStorage | SessionStore
  logger?: Logger
  debug?: boolean
  allowOrigins?: string[]
  allowMethods?: string[]
  allowHeaders?: string[]
  allowHosts?: string[]
  requestTimeout?: Duration
  maxRequestSize?: ByteSize
  healthPath?: string
  vectorDb?: VectorDbConfig
  embedding?: EmbeddingConfig
  knowledgeApi?: KnowledgeApi
  summaryManager?: SummaryManagerLike
  a2a?: { prefix?: string }
  auth?: { keys: (string | KeySettings)[] }
  limits?: ServerLimits
  /** Allows an address that is not loopback without `auth`. */
  allowUnauthenticated?: boolean
  /** Addresses and ranges (`'10.0.0.0/8'`, `'loopback'`) of the proxies whose `X-Forwarded-For` is believed. Default: none. */
  trustProxy?: false | string | string[]
  retention?: { maxAge?: Duration; maxSessions?: number }
}

export interface KnowledgeSources {
  /** Files, folders and globs, relative to the config file; ingested when the server starts. */
  sources?: string[]
  collection?: string
  chunkSize?: number
  chunkOverlap?: number
}

/** What a user writes in agent.config.ts. An entity is what `agent`, `team`, `workflow` return, or an AI SDK `Agent`. */
export interface UserConfig {
  model?: ModelSetting
  knowledge?: KnowledgeSources
  agents?: Record<string, object>
  teams?: Record<string, object>
  workflows?: Record<string, object>
  /** MCP servers by name; an agent takes the tools of one with `mcp('name')`. */
  mcpServers?: Record<string, McpServer>
  server?: ServerConfig
  /** Called when a reload has replaced this config and its last run has ended, and at shutdown. */
  dispose?: () => void | Promise<void>
}

/** Every field decided. */
export interface ResolvedServerConfig {
  address: {
    host: string | undefined
    port: number /** Somebody named it: no looking for a free port. */
    named: boolean
  }
  /** Without a trailing slash; `''` for `/`. */
  prefix: string
  sessionStorage: 'memory' | Required<SqliteStorage> | SessionStore
  logger: Logger | undefined
  debug: boolean
  allowOrigins: string[]
  allowMethods: string[] | undefined
  allowHeaders: string[] | undefined
  allowHosts: string[]
  requestTimeoutMs: number
  maxRequestBytes: number
  healthPath: string
  vectorDb: ({ type: 'lancedb' | 'memory' } & VectorDbConfig) | undefined
  embedding: { provider: 'auto' | 'transformers' | 'lexical' | 'openai' } & EmbeddingConfig
  knowledgeApi: Required<KnowledgeApi>
  summaryManager: SummaryManagerLike | undefined
  a2aPrefix: string
  authKeys: ResolvedKey[]
  limits: Limits
  allowUnauthenticated: boolean
  trustProxy: readonly string[]
  retention: { maxAgeMs: number | undefined; maxSessions: number | undefined }
}

export interface ResolvedConfig {
  /** The file that was loaded; undefined for the built-in default. */
  file: string | undefined
  /** Where relative paths start: the folder of the config file, else the working directory. */
  root: string
  /** Where everything durable is kept. */
  dataFolder: string
  model: ModelSetting | undefined
  knowledge: {
    sources: string[]
    collection: string | undefined
    chunkSize: number | undefined
    chunkOverlap: number | undefined
  }
  /** In the order of the file: agents, teams, workflows. */
  entities: Map<string, Runnable>
  server: ResolvedServerConfig
  mcp: McpServers
  testDoubles: TestDoubles | undefined
  /** Calls the user's own, then ends the MCP servers. */
  dispose: (() => void | Promise<void>) | undefined
}
