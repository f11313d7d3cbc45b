import type { Limits } from '../core/limits.ts'
import type { ModelChoice } from '../core/model.ts'
import type { EntityKind } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import type { TestDoubles } from '../runnables/base/defaults.ts'
import type { McpServers } from '../runnables/mcp/mcp.ts'
import type { SummaryManagerLike } from './settings/server.ts'

/** Dependencies on the rooms above, passed in by the composition root. */
export interface ConfigParts {
  /**
   * The runnable for an entry of `agents`, `teams` or `workflows`, with the config's defaults; undefined for a value
   * that is neither ours nor an AI SDK `Agent`. May throw an AppError about a setting.
   */
  toRunnable(value: object, kind: EntityKind, binding: EntityBinding): Runnable | undefined
  /** The MCP servers of a config, not yet started. Throws an AppError about a setting. */
  mcpServers(
    named: Readonly<Record<string, unknown>>,
    root: string,
    messageBytes: number,
    dataFolder?: string,
  ): McpServers
  agent(settings: BuiltInAgent): Runnable<'agent'>
  summaryManager(): SummaryManagerLike
}

export interface EntityBinding {
  id: string
  model: ModelChoice | undefined
  root: string
  mcp: McpServers
  testDoubles: TestDoubles | undefined
  limits: Limits
  /** `server.files.fetchUrls`. */
  fetchUrls: boolean
  runTimeoutMs: number
}

export interface BuiltInAgent {
  description: string
  instructions?: string
  knowledge?: { limit: number; mode: 'first' }
  sideEffects?: false
  run?: (context: { text: string }) => AsyncIterable<string>
}
